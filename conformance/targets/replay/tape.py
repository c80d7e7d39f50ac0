"""Recordings as a replay server holds them: one entry per exchange, under the recording's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from conformance.cassette import Cassette, Clock, Recording, discover, open_recording
from conformance.cassette.recording import MUTANTS
from conformance.cassette.source import plain_name
from conformance.core.errors import CassetteError, ConformanceError, Place
from conformance.core.events import Exchange
from conformance.targets.replay.options import ReplayOptions
from conformance.targets.replay.script import script

Source = Path | str | Recording | Cassette
_SUFFIXES: Final = (".cassette.jsonl", ".chunks.txt")


@dataclass(frozen=True, slots=True)
class ExchangeAddress:
    """Which exchange: the recording's name and the exchange's number in it."""

    name: str
    exchange: int

    def __str__(self) -> str:
        return f"{self.name} exchange {self.exchange}"


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One exchange that can be served. `redacted`: its file's secrets are stand-ins."""

    name: str
    exchange: Exchange
    clock: Clock
    redacted: bool

    @property
    def address(self) -> ExchangeAddress:
        return ExchangeAddress(self.name, self.exchange.number)


@dataclass(frozen=True, slots=True)
class NamedRecording:
    """One recording under its name."""

    name: str
    entries: tuple[RecordedExchange, ...]

    def with_name(self, name: str) -> NamedRecording:
        """The same under another name."""
        return NamedRecording(name, tuple(replace(entry, name=name) for entry in self.entries))


def load_recording(source: Source, name: str = "") -> NamedRecording:
    """The recording, read if it is a path; its name defaults to the file's, without suffix.

    Raises CassetteError if it cannot be read, or holds an answer that HTTP cannot carry.
    """
    path = "" if isinstance(source, Cassette | Recording) else str(source)
    recording = open_recording(path) if path else source
    assert isinstance(recording, Cassette | Recording)
    cassette = recording if isinstance(recording, Cassette) else recording.cassette
    file = recording.path if isinstance(recording, Recording) else None
    known_as = name or (recording_stem(file) if file else "cassette")
    redacted = bool(cassette.header.redactions or cassette.trailer)
    entries = tuple(
        RecordedExchange(known_as, each, cassette.clocks.get(each.number, Clock()), redacted)
        for each in cassette.exchanges
    )
    for entry in entries:
        _check_servable(entry, str(file or known_as))
    return NamedRecording(known_as, entries)


def load_recordings(sources: Iterable[Source]) -> tuple[NamedRecording, ...]:
    """Every recording, folders searched, each under a name of its own. Raises CassetteError.

    A name is the file's without suffix; where two files share one, the folders down to it from the
    folder that was named are part of it.
    """
    found = [pair for source in sources for pair in _named_sources(source)]
    short = Counter(names[0] for _, names in found)
    taken: Counter[str] = Counter()
    result = []
    for source, (brief, full) in found:
        name = brief if short[brief] == 1 else full
        taken[name] += 1
        again = f"{name}~{taken[name]}" if taken[name] > 1 else name
        result.append(load_recording(source, again))
    return tuple(result)


def recording_stem(path: Path) -> str:
    """The file's name without the suffixes that recordings have."""
    name = path.name[: len(plain_name(path))]
    suffix = next((s for s in _SUFFIXES if name.lower().endswith(s)), Path(name).suffix)
    return name[: len(name) - len(suffix)] if suffix else name


def _named_sources(source: Source) -> list[tuple[Source, tuple[str, str]]]:
    if isinstance(source, Recording):
        return [(source, (recording_stem(source.path), recording_stem(source.path)))]
    if isinstance(source, Cassette):
        return [(source, ("cassette", "cassette"))]
    root = Path(source)
    if not root.is_dir():
        return [
            (
                root,
                (recording_stem(root), "/".join([*root.parent.parts[-1:], recording_stem(root)])),
            )
        ]
    files = discover(root)
    if not files:
        hint = f"folders named {MUTANTS} are skipped"
        raise CassetteError("holds no recording", place=Place(str(root)), hint=hint)
    below = [(file, file.relative_to(root).parent.parts) for file in files]
    return [
        (file, (recording_stem(file), "/".join([*parts, recording_stem(file)])))
        for file, parts in below
    ]


def _check_servable(entry: RecordedExchange, file: str) -> None:
    """Whether it can be served is told at once, not when a client asks."""
    try:
        script(entry.exchange, entry.clock, ReplayOptions())
    except ConformanceError as err:
        raise CassetteError(err.message, place=Place(file)) from err
