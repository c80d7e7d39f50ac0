"""Recordings as a replay server holds them: one entry per exchange, under the recording's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.cassette import Cassette, CassetteClock, Recording, discover, open_recording
from conformance.cassette.search import MUTANTS, named_paths
from conformance.cassette.source import plain_name
from conformance.core.errors import CassetteError, ConformanceError, Place
from conformance.core.events import Exchange
from conformance.targets.replay.options import ReplayOptions
from conformance.targets.replay.script import answer_script
from conformance.targets.replay.socket_script import socket_script
from conformance.wire.upgrade import require_websockets

ReplaySource = Path | str | Recording | Cassette
_SUFFIXES: Final = (".cassette.jsonl", ".chunks.txt")


class ExchangeAddress(Struct, frozen=True):
    """Which exchange: the recording's name and the exchange's number in it."""

    name: str
    exchange: int

    def __str__(self) -> str:
        return f"{self.name} exchange {self.exchange}"


class RecordedExchange(Struct, frozen=True):
    """One exchange that can be served. `redacted`: its file's secrets are stand-ins."""

    name: str
    exchange: Exchange
    clock: CassetteClock
    redacted: bool

    @property
    def is_socket(self) -> bool:
        """Whether it is a whole WebSocket, be it one without a message."""
        response, has_chunks = self.exchange.response, bool(self.exchange.chunks)
        is_empty = response is not None and response.is_upgrade and not has_chunks
        return self.exchange.is_connection or is_empty

    @property
    def address(self) -> ExchangeAddress:
        return ExchangeAddress(self.name, self.exchange.number)


def load_recording(source: ReplaySource, name: str) -> tuple[RecordedExchange, ...]:
    """The exchanges of a recording under this name; it is read if it is a path.

    Raises CassetteError if it cannot be read, or holds an answer that HTTP cannot carry.
    """
    recording = open_recording(source) if isinstance(source, Path | str) else source
    if isinstance(recording, Recording):
        cassette = recording.kept or recording.cassette
    else:
        cassette = recording
    redacted = bool(cassette.header.redactions or cassette.trailer)
    entries = tuple(
        RecordedExchange(name, each, cassette.clocks.get(each.number, CassetteClock()), redacted)
        for each in cassette.exchanges
    )
    try:
        for entry in entries:  # what cannot be served is reported at once, not when a client asks
            _check_entry(entry)
    except ConformanceError as err:
        file = recording.path if isinstance(recording, Recording) else name
        raise CassetteError(err.message, place=Place(str(file)), hint=err.hint) from err
    return entries


def _check_entry(entry: RecordedExchange) -> None:
    if entry.is_socket:
        require_websockets()
        socket_script(entry.exchange, entry.clock, ReplayOptions())
    else:
        answer_script(entry.exchange, entry.clock, ReplayOptions())


def load_recordings(sources: Iterable[ReplaySource]) -> dict[str, tuple[RecordedExchange, ...]]:
    """The exchanges of every recording, folders searched, by its name. Raises CassetteError.

    A name is the file's without suffix; where two files share one, the folders down to it from the
    folder that was named are part of it.
    """
    found = [named for source in sources for named in _named_sources(source)]
    short = Counter(brief for _, brief, _ in found)
    loaded: dict[str, tuple[RecordedExchange, ...]] = {}
    for source, brief, full in found:
        name = brief if short[brief] == 1 else full
        spellings = chain((name,), (f"{name}~{number}" for number in count(2)))
        free = next(each for each in spellings if each not in loaded)
        loaded[free] = load_recording(source, free)
    return loaded


def load_exchanges(sources: Iterable[ReplaySource]) -> tuple[RecordedExchange, ...]:
    """The exchanges of all recordings, for who plays them without a server.

    Raises CassetteError, also for a WebSocket: that needs a connection.
    """
    entries = tuple(chain.from_iterable(load_recordings(sources).values()))
    for each in entries:
        if each.is_socket:
            raise CassetteError(f"{each.address} is a WebSocket, which only a server replays")
    return entries


def source_name(source: ReplaySource) -> str:
    """Return the default name of a recording."""
    if isinstance(source, Cassette):
        return "cassette"
    return recording_stem(source.path if isinstance(source, Recording) else Path(source))


def recording_stem(path: Path) -> str:
    """The file's name without the suffixes that recordings have."""
    name = path.name[: len(plain_name(path))]
    suffix = next((s for s in _SUFFIXES if name.lower().endswith(s)), Path(name).suffix)
    return name[: len(name) - len(suffix)] if suffix else name


def _named_sources(source: ReplaySource) -> list[tuple[ReplaySource, str, str]]:
    """Each recording with its name, and with a longer one by the folders above it."""
    if isinstance(source, Recording | Cassette):
        return [(source, source_name(source), source_name(source))]
    return [each for root in named_paths(source) for each in _sources_at(root)]


def _sources_at(root: Path) -> list[tuple[ReplaySource, str, str]]:
    if not root.is_dir():
        above = {root: root.parent.parts[-1:]}
    else:
        above = {file: file.relative_to(root).parent.parts for file in discover(root)}
    if not above:
        hint = f"folders named {MUTANTS} are skipped"
        raise CassetteError("holds no recording", place=Place(str(root)), hint=hint)
    return [
        (file, recording_stem(file), "/".join([*parts, recording_stem(file)]))
        for file, parts in above.items()
    ]
