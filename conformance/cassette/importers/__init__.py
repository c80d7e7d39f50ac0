"""Recordings that other tools made: how one is known, and how it is read.

An `Importer` is one value. Ours are modules of this package; any installed distribution adds its
own by an entry point of the group `conformance.importers`, whose object is such a value. All are
loaded when the first file comes that is none of our own formats (`registry.py`). What a stranger's
code does wrong is told in one line that names its distribution; other files are read all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.cassette.header import Cassette
from conformance.cassette.positions import Layout
from conformance.cassette.source import plain_name, read_beginning, read_whole
from conformance.core.errors import CassetteError, Place

MAX_IMPORT: Final = 64 * 1024 * 1024  # bytes
_PEEK: Final = 4096


class ForeignFile:
    """A file that may be another tool's recording; each part of it is read once.

    `dialect` is what the user says it speaks, if anything. Raises CassetteError where it cannot be
    read, holds more than `MAX_IMPORT` bytes, or is asked for JSON and holds none.
    """

    def __init__(self, path: Path, dialect: str | None = None) -> None:
        self.path = path
        self.dialect = dialect

    @cached_property
    def name(self) -> str:
        """Its name in lower case, without `.gz` or `.zst`."""
        return plain_name(self.path)

    @cached_property
    def head(self) -> bytes:
        """Its first bytes, inflated, at most 4,096."""
        return read_beginning(self.path, _PEEK)

    @cached_property
    def data(self) -> bytes:
        """All its bytes, inflated."""
        data = read_whole(self.path, max_bytes=MAX_IMPORT)
        if not data.strip():
            raise self.error("the file is empty")
        return data

    @cached_property
    def json(self) -> Any:
        try:
            return msgspec.json.decode(self.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            raise self.error(f"broken JSON: {err}") from err

    def error(self, message: str, line: int | None = None) -> CassetteError:
        """The error to raise for a fault of this file, at a 1-based line."""
        return CassetteError(message, place=Place(str(self.path), line))


class ImportedRecording(Struct, frozen=True):
    """What a file holds, and for each exchange where in the file its body stands.

    `kind` is the name of the importer, which fills it in.
    """

    cassette: Cassette
    layouts: tuple[Layout | Callable[[], Layout], ...] = ()
    kind: str = ""

    def layout(self, exchange: int) -> Layout:
        """Of the exchange of that number, from 1; line 1 where nothing is known."""
        found = self.layouts[exchange - 1] if self.layouts else Layout(1)
        return found if isinstance(found, Layout) else found()


class Importer(Struct, frozen=True):
    """How recordings of one tool are known and read.

    `suffixes` are endings of names that may be theirs, in lower case. `recognises` tells by little
    of a file whether it is one; where `in_folders`, a search of a folder finds those. `read` gives
    None for a file that is none after all, and raises CassetteError for a broken one; `expects`
    says what it would have read. Whatever a file does not hold is left out, not made up.
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[ForeignFile], bool]
    read: Callable[[ForeignFile], ImportedRecording | None]
    expects: str = ""
    in_folders: bool = True
