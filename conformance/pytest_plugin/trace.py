"""A trace for plain asserts: what one call gave, event by event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from conformance.cassette import (
    Cassette,
    Header,
    Origin,
    Recording,
    locate,
    open_recording,
    redact,
    write,
)
from conformance.core.events import Chunk, Event, Exchange
from conformance.dialects import dialect_at
from conformance.judging.result import Report, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.pytest_plugin.responses import exchange_of
from conformance.recordings.check import CheckChoices, check_recording, recognised_dialect

Source = Any
"""An httpx response, the path of a recording, the bytes of a body, or an exchange."""

_NO_RULES: Final = Rulebook(())
_NAME: Final = "response.cassette.jsonl"


@dataclass(frozen=True, slots=True)
class Trace:
    """What one test saw of one or several exchanges.

    `notes` are sentences for the reader: what was lost on the way here. `strict` and
    `require_exercised` are what the test run asks of judges.
    """

    recording: Recording
    choices: CheckChoices = field(default_factory=CheckChoices)
    notes: tuple[str, ...] = ()
    strict: bool = False
    require_exercised: bool = False

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Request, response head, chunks and end of each."""
        return self.recording.exchanges

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything on the wire in one order: transport, wire and semantic events."""
        return _view_events(self, "wire")

    @property
    def semantic(self) -> tuple[Event, ...]:
        """What a correct client would report of it."""
        return tuple(event for event in self.events if event.layer == "semantic")

    @property
    def thinking(self) -> str:
        """All thinking, summaries included, in the order of the wire."""
        return _joined_text(self.semantic, "thinking.delta")

    @property
    def text(self) -> str:
        """The text of all answers, in the order of the wire."""
        return _joined_text(self.semantic, "text.delta")

    @property
    def seen(self) -> tuple[Mapping[str, Any], ...]:
        """What a recorded client under test reported, as it reported it."""
        return tuple(each for exchange in self.exchanges for each in exchange.seen or ())

    def judged(self, rulebook: Rulebook) -> Report:
        """Verdicts and findings of these rules."""
        results = check_recording(self.recording, rulebook, self.choices)
        return Report(tuple(map(_without_lines, results)), notes=(*self.notes, *rulebook.notes))


@dataclass(frozen=True, slots=True)
class _MemoryRecording(Recording):
    """A recording in memory. It is written, without secrets, once a line of it is asked for."""

    is_kept: bool = False

    def locate(self, exchange: int, offsets: Sequence[int]) -> list[int]:
        """Line 0 stands for no file at all."""
        if not self.is_kept:
            return [0] * len(offsets)
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write(self.path, redact(self.cassette))
        return locate(self.path, exchange, offsets)


def trace_of(
    source: Source,
    *,
    dialect: str | None = None,
    profile: str | None = None,
    folder: Path | None = None,
    fidelity: Literal["bytes", "text"] = "bytes",
    notes: tuple[str, ...] = (),
) -> Trace:
    """The trace of a response, a recording's path, or bytes.

    What is in memory is written to a new file below `folder` if it has findings, so that they have
    a place to look at. Raises CassetteError for a file that cannot be read, UsageError for what is
    no such source.
    """
    if isinstance(source, str | Path):
        choices = CheckChoices(dialect=dialect, profile=profile)
        return Trace(open_recording(source, dialect=dialect), choices, notes)
    if isinstance(source, bytes | bytearray):
        exchange = Exchange(chunks=(Chunk(bytes(source)),))
    else:
        exchange = source if isinstance(source, Exchange) else exchange_of(source)
    origin: Origin = "imported" if exchange.response is None else "live"
    header = Header(origin=origin, fidelity=fidelity)
    choices = CheckChoices(dialect=dialect or _requested_dialect(exchange), profile=profile)
    where = Path(_NAME) if folder is None else _free_path(folder)
    held = _MemoryRecording(
        where, "cassette", Cassette(header, (exchange,)), is_kept=folder is not None
    )
    return Trace(held, choices, notes)


def _requested_dialect(exchange: Exchange) -> str | None:
    """The dialect by the path of the request, where the answer shows none: an error, mostly."""
    if exchange.request is None or recognised_dialect(exchange) is not None:
        return None
    return dialect_at(exchange.request.path)


def _free_path(folder: Path) -> Path:
    number = 1
    while (path := folder / f"{number}-{_NAME}").exists():
        number += 1
    return path


def _view_events(trace: Trace, view: str) -> tuple[Event, ...]:
    choices = replace(trace.choices, keep=True)
    results = check_recording(trace.recording, _NO_RULES, choices)
    return tuple(event for each in results if each.view == view for event in each.events)


def _joined_text(events: Sequence[Event], type_: str) -> str:
    return "".join(event.data["text"] for event in events if event.type == type_)


def _without_lines(result: StreamResult) -> StreamResult:
    """The result without the lines of a file that is nowhere."""
    if all(finding.line != 0 for finding in result.findings):
        return result
    findings = (replace(f, line=f.line or None) for f in result.findings)
    return replace(result, findings=tuple(findings))
