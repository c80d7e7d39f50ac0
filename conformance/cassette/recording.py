"""One door for every file that holds recorded streams.

A file is a cassette, or of a kind that an importer reads (`conformance.cassette.importers`): a raw
body, payloads, what a browser, a proxy or curl saved, a tape of another tool. What an import cannot
know it does not make up: a bare `.sse` file has neither request, status nor headers. `fidelity`
says how far the bytes may be trusted: `bytes` for raw bodies, `events` where the framing is rebuilt
(payload lines).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from conformance.cassette.cassette_kind import CASSETTE, is_named
from conformance.cassette.connections import (
    carried_exchanges,
    carried_layouts,
    has_messages,
    split_connections,
)
from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile
from conformance.cassette.kinds import Recognition, known_as, read_file
from conformance.cassette.positions import Layout, cassette_layout
from conformance.cassette.read import read
from conformance.cassette.source import plain_name
from conformance.core.errors import UsageError
from conformance.core.events import Exchange
from conformance.core.unexpected import refuse_unexpected

_NAMED: Final = (".jsonl", ".chunks.txt", ".json")
"""Names of files that are taken for recordings where they are named, whatever they hold."""


_Found = TypeVar("_Found")


class Recording(Struct, frozen=True):
    """A file, what it holds, and its kind: one of our formats, or the name of an importer.

    `cassette` has an exchange for each answer; `kept` is what the file holds where that is another
    one, with whole WebSockets.
    """

    path: Path
    kind: str
    cassette: Cassette
    kept: Cassette | None = None

    @property
    def header(self) -> Header:
        return self.cassette.header

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return self.cassette.exchanges

    @property
    def judged(self) -> tuple[Exchange, ...]:
        """The exchanges that rules judge; others only accompany them."""
        return self.exchanges

    def source_of(self, exchange: int) -> tuple[Path, int]:
        """The file that holds an exchange, and its number there."""
        return self.path, exchange

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

    `dialect` is that of a foreign file, from the user; a cassette states its own.
    """
    where = path if isinstance(path, Path) else Path(path)
    file = ForeignFile(where, dialect)
    with refuse_unexpected(where):
        if CASSETTE.recognises(file):
            return _recording_of(where, CASSETTE.name, read(where))
        imported = read_file(file)
        return _recording_of(where, imported.kind, imported.cassette)


def _recording_of(path: Path, kind: str, kept: Cassette) -> Recording:
    cassette = split_connections(kept)
    return Recording(path, kind, cassette, None if cassette is kept else kept)


def locate(path: Path | str, exchange: int, offsets: Sequence[int]) -> list[int]:
    """The 1-based lines of the file that hold these bytes of an exchange's body.

    Reads the file again: ask for findings only. A negative offset asks for the response head.
    Raises UsageError if there is no such exchange.
    """
    file = ForeignFile(Path(path))
    with refuse_unexpected(path):
        layout = _layout_of(file, exchange)
        return [layout.line(offset) for offset in offsets]


def _layout_of(file: ForeignFile, exchange: int) -> Layout:
    if CASSETTE.recognises(file):
        layouts = _socket_layouts(file.path, _changing(file.path))
        if layouts is None:
            return cassette_layout(file.path, exchange)
        return _one_of(layouts, exchange, file)
    imported = read_file(file)
    carried = _one_of(carried_exchanges(imported.cassette), exchange, file)
    return carried_layouts([carried], imported.layout)[0]


def _one_of(found: Sequence[_Found], exchange: int, file: ForeignFile) -> _Found:
    if not 1 <= exchange <= len(found):
        raise UsageError(f"{file.path} has no exchange {exchange}")
    return found[exchange - 1]


def _changing(path: Path) -> tuple[int, ...]:
    stat = path.stat() if path.exists() else None
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat else ()


@lru_cache(maxsize=1)  # callers read the exchanges of a file one after the other
def _socket_layouts(path: Path, _changing: tuple[int, ...]) -> list[Layout] | None:
    """The layouts of all answers of a cassette with WebSockets; None for any other."""
    if not has_messages(path):
        return None
    return carried_layouts(carried_exchanges(read(path)), partial(cassette_layout, path))


def is_named_recording(path: Path) -> bool:
    """Whether the file's name says by itself that it holds streams."""
    return is_named(plain_name(path))


def is_recording(path: Path | str) -> bool:
    """Whether a file that a user names is a recording: by its name, else by its first bytes.

    Raises nothing: an unreadable file is not a recording.
    """
    where = Path(path)
    return is_named_recording(where) or plain_name(where).endswith(_NAMED) or holds_recording(where)


def holds_recording(path: Path) -> bool:
    """Whether a look into the file shows a recording. Raises nothing."""
    return look_into(path) is Recognition.YES


def look_into(path: Path) -> Recognition:
    """What the file shows itself to be. Raises nothing."""
    return known_as(ForeignFile(path))


def import_file(path: Path | str, *, dialect: str | None = None) -> Cassette:
    """The file as a cassette of origin `imported`; nothing is redacted. Raises CassetteError."""
    file = ForeignFile(Path(path), dialect)
    with refuse_unexpected(path):
        if CASSETTE.recognises(file):
            raise file.error("expected a foreign recording, got a cassette")
        return read_file(file).cassette
