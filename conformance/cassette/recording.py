"""One door for every file that holds recorded streams, and the search for them in folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.cassette.header import Cassette, Header
from conformance.cassette.imports import (
    import_recording,
    is_recording_of_others,
    kind_by_name,
    kind_of,
)
from conformance.cassette.positions import cassette_layout
from conformance.cassette.read import read
from conformance.cassette.source import plain_name
from conformance.core.errors import CassetteError, Place, UsageError
from conformance.core.events import Exchange

MUTANTS: Final = "mutants"
_FOUND_IN_FOLDERS: Final = (".cassette.jsonl", ".sse")
_OF_OTHERS: Final = frozenset({"", "json", "foreign"})  # kinds that an importer may recognise


@dataclass(frozen=True, slots=True)
class Recording:
    """A file, what it holds, and its kind: one of our formats, or the name of an importer."""

    path: Path
    kind: str
    cassette: Cassette

    @property
    def header(self) -> Header:
        return self.cassette.header

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return self.cassette.exchanges

    @property
    def torn(self) -> bool:
        return self.cassette.torn

    @property
    def notes(self) -> tuple[str, ...]:
        return self.cassette.notes

    def locate(self, exchange: int, offsets: Sequence[int]) -> list[int]:
        """As `locate`, for this file."""
        return locate(self.path, exchange, offsets)


def open_recording(path: Path | str, *, dialect: str | None = None) -> Recording:
    """Reads a cassette or imports anything else. Raises CassetteError.

    `dialect` is what a foreign file is said to speak; a cassette says so itself.
    """
    where = Path(path)
    kind = kind_of(where)
    if kind == "cassette":
        return Recording(where, kind, read(where))
    imported = import_recording(where, dialect=dialect)
    return Recording(where, imported.kind, imported.cassette)


def locate(path: Path | str, exchange: int, offsets: Sequence[int]) -> list[int]:
    """The 1-based lines of the file that hold these bytes of an exchange's body.

    Reads the file again: ask for findings only. A negative offset asks for the response head.
    Raises UsageError if there is no such exchange.
    """
    where = Path(path)
    if kind_of(where) == "cassette":
        layout = cassette_layout(where, exchange)
    else:
        imported = import_recording(where)
        if not 1 <= exchange <= len(imported.cassette.exchanges):
            raise UsageError(f"{path} has no exchange {exchange}")
        layout = imported.layout(exchange)
    return [layout.line(offset) for offset in offsets]


def is_recording(path: Path | str) -> bool:
    """Whether the file's name is that of a recording; for names of others, what an importer says.

    Raises nothing: a file that cannot be read is no recording.
    """
    where = Path(path)
    kind = kind_by_name(where)
    return kind not in ("", "foreign") or is_recording_of_others(where, in_folders=False)


def discover(folder: Path | str) -> tuple[Path, ...]:
    """Cassettes, `.sse` files, and what importers look for in folders, below this one, sorted.

    Folders named `mutants` are skipped (their cassettes fail on purpose), unless that is what was
    asked for. Symbolic links are followed to files inside the folder only. Raises CassetteError.
    """
    root = Path(folder)
    if not root.is_dir():
        raise CassetteError("expected a folder", place=Place(str(root)))
    inside = root.resolve()
    return tuple(sorted(path for path in _files_below(root) if _is_found(path, inside)))


def _files_below(root: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(root):  # does not follow links to folders
        folders[:] = [name for name in folders if name != MUTANTS]
        yield from (Path(where, name) for name in names)


def _is_found(path: Path, root: Path) -> bool:
    name = plain_name(path)
    is_ours = name.endswith(_FOUND_IN_FOLDERS)
    if not (is_ours or kind_by_name(path) in _OF_OTHERS) or not path.is_file():
        return False
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        return False
    return is_ours or is_recording_of_others(path, in_folders=True)
