"""Kinds of files that hold recorded streams: how each is recognised and read.

A kind is one value, an `Importer`. Ours are modules of this package, and
`conformance.cassette.own_kinds` lists them in the order in which they are tried; any installed
distribution adds its own by an entry point of the group `conformance.importers`, whose object is
such a value. These are loaded with the first file that is none of our kinds (`registry.py`). A
fault of their code is reported in one line that names the distribution; other files are still read.
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
from conformance.core.lines import BOM

MAX_IMPORT: Final = 64 * 1024 * 1024  # bytes
_PEEK: Final = 4096


class ForeignFile:
    """A file that may hold recorded streams; each part of it is read once.

    `dialect` is the one that the user named, if any. Raises CassetteError if the file cannot be
    read, holds more than `MAX_IMPORT` bytes, or does not hold the JSON that a caller needs.
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
        known = self.__dict__.get("data")
        return read_beginning(self.path, _PEEK) if known is None else known[:_PEEK]

    @cached_property
    def data(self) -> bytes:
        data = read_whole(self.path, max_bytes=MAX_IMPORT)
        if not data or data.isspace():
            raise self.error("the file is empty")
        return data

    @cached_property
    def _parsed_json(self) -> tuple[Any, CassetteError | None]:
        try:
            return msgspec.json.decode(self.data.removeprefix(BOM)), None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            return None, self.error(f"broken JSON: {err}")

    @property
    def json(self) -> Any:
        value, fault = self._parsed_json
        if fault is not None:
            raise fault
        return value

    @cached_property
    def _parsed_tree(self) -> tuple[Any, CassetteError | None]:
        from conformance.cassette.importers.yaml_tree import load_tree  # noqa: PLC0415  # for YAML alone

        try:
            return load_tree(str(self.path), self.data), None
        except CassetteError as err:
            return None, err

    @property
    def tree(self) -> Any:
        """The file as YAML: mappings, lists and `yaml_tree.Scalar` values."""
        tree, fault = self._parsed_tree
        if fault is not None:
            raise fault
        return tree

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


class NothingJudgedError(CassetteError):
    """The file can be read, but holds no answer of an API that is judged."""


class Importer(Struct, frozen=True):
    """How files of one kind are recognised and read.

    `suffixes` are possible endings of their names, in lower case; an empty one fits any name.
    `recognises` decides by the content; with `in_folders`, a search of a folder finds these files.
    `read` gives None for a file that is not of this kind after all, and raises CassetteError for a
    broken one; `expects` describes what it can read, and `says`, for lists, such files. `trusted`
    is how far the bytes may be trusted, `keeps` what else the files record. Facts that a file lacks
    are left out, not made up.
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[ForeignFile], bool]
    read: Callable[[ForeignFile], ImportedRecording | None]
    expects: str = ""
    in_folders: bool = True
    says: str = ""
    trusted: str = ""
    keeps: str = ""

    def may_read(self, file: ForeignFile) -> bool:
        """Whether the file's name may be one of this kind."""
        return file.name.endswith(self.suffixes)
