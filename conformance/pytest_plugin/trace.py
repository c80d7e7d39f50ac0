"""A trace for plain asserts: what one call gave, event by event, and how it is judged.

Nothing here imports pytest, so that `conformance.assert_conforms` works without it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import (
    Cassette,
    Header,
    Recording,
    RecordingOrigin,
    locate,
    open_recording,
    write,
)
from conformance.core.errors import ConformanceError
from conformance.core.events import Chunk, Event, Exchange
from conformance.dialects import dialect_at
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.result import Report, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.pytest_plugin import responses
from conformance.pytest_plugin.event_lines import event_lines
from conformance.pytest_plugin.options import display_path
from conformance.recordings.check import check_recording, check_trusted
from conformance.recordings.choices import CheckChoices
from conformance.recordings.redaction import redact_evidence
from conformance.report import text
from conformance.report.redacted import redact_report
from conformance.report.wording import finding_place
from conformance.rules.verdicts import GAPS, Level, Verdict

if TYPE_CHECKING:
    import pytest

    from conformance.pytest_plugin.settings import ReplaySettings

TraceSource = Any
"""An httpx response, the path of a recording, the bytes of a body, or an exchange."""

_SHOWN: Final = 20  # events that a trace names in a failing assert
_LEVELS: Final = tuple(Level)
_NO_RULES: Final = Rulebook(())
_NAME: Final = "response.cassette.jsonl"


class Trace(Struct, frozen=True):
    """The events of one or several exchanges of a test.

    `notes` are sentences for the reader: what was lost on the way here. `strict` and
    `require_exercised` are what the test run asks of judges, `suites` those of the project.
    """

    recording: Recording
    choices: CheckChoices = field(default_factory=CheckChoices)
    notes: tuple[str, ...] = ()
    strict: bool = False
    require_exercised: bool = False
    suites: tuple[str, ...] = ()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Request, response head, chunks and end of each."""
        return self.recording.exchanges

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything on the wire in one order: transport, wire and semantic events."""
        choices = replace(self.choices, keep=True)
        results = check_trusted(self.recording, _NO_RULES, choices)
        return tuple(event for each in results if each.view == "wire" for event in each.events)

    @property
    def semantic(self) -> tuple[Event, ...]:
        """The semantic events that a correct client would report."""
        return tuple(event for event in self.events if event.layer == "semantic")

    @property
    def sequence(self) -> list[str]:
        """The semantic events, a line each, as snapshots have them: adjacent deltas joined."""
        return list(event_lines(self.exchanges, self.semantic))

    def __repr__(self) -> str:
        types = [line.partition(" ")[0] for line in self.sequence]
        shown = " ".join(types[:_SHOWN]) + (" ..." if types[_SHOWN:] else "")
        return f"<trace of {self.recording.path.name}: {shown or 'no events'}>"

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
        """The events that a recorded client under test reported, as it reported them."""
        return tuple(each for exchange in self.exchanges for each in exchange.seen or ())

    def judged(self, rulebook: Rulebook) -> Report:
        """Verdicts and findings of these rules."""
        results = check_recording(self.recording, rulebook, self.choices)
        return Report(tuple(map(_without_lines, results)), notes=(*self.notes, *rulebook.notes))


class _MemoryRecording(Recording, frozen=True):
    """A recording in memory. It is written, without secrets, once a line of it is needed."""

    is_kept: bool = False

    def locate(self, exchange: int, offsets: Sequence[int]) -> list[int]:
        """Line 0 stands for no file at all."""
        if not self.is_kept:
            return [0] * len(offsets)
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write(self.path, redact_evidence(self.cassette))
        return locate(self.path, exchange, offsets)


def trace_of(
    source: TraceSource,
    *,
    dialect: str | None = None,
    profile: str | None = None,
    folder: Path | None = None,
    fidelity: Literal["bytes", "text"] = "bytes",
    notes: tuple[str, ...] = (),
    trusted: tuple[Path, ...] = (),
) -> Trace:
    """The trace of a response, a recording's path, or bytes.

    What is in memory is written to a new file below `folder` if it has findings, so that they have
    a place to look at. A recording below a `trusted` path may excuse itself. Raises CassetteError
    for a file that cannot be read, UsageError for what is no such source.
    """
    if isinstance(source, str | Path):
        choices = CheckChoices(dialect=dialect, profile=profile, trusted=trusted)
        return Trace(open_recording(source, dialect=dialect), choices, notes)
    if isinstance(source, bytes | bytearray):
        exchange = Exchange(chunks=(Chunk(bytes(source)),))
    else:
        exchange = source if isinstance(source, Exchange) else responses.exchange_of(source)
    origin: RecordingOrigin = "imported" if exchange.response is None else "live"
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


def _joined_text(events: Sequence[Event], type_: str) -> str:
    return "".join(event.data["text"] for event in events if event.type == type_)


def _without_lines(result: StreamResult) -> StreamResult:
    """The result without the lines of a file that is nowhere."""
    if all(finding.line != 0 for finding in result.findings):
        return result
    findings = (replace(f, line=f.line or None) for f in result.findings)
    return replace(result, findings=tuple(findings))


class Tracer:
    """Call it with an httpx response, the path of a recording, or the bytes of a body.

    An open response is read, chunk by chunk; of an asynchronous one `aread` makes a trace. Relative
    paths begin at the test's file.
    """

    def __init__(self, settings: ReplaySettings, request: pytest.FixtureRequest) -> None:
        self._settings = settings
        self._request = request

    def __call__(
        self, source: TraceSource, *, dialect: str | None = None, profile: str | None = None
    ) -> Trace:
        __tracebackhide__ = True
        if isinstance(source, str | Path):
            source = display_path(self._request.path.parent / source, self._request.config)
        return self._trace(source, dialect, profile)

    async def aread(
        self, response: Any, *, dialect: str | None = None, profile: str | None = None
    ) -> Trace:
        """The trace of a response of an asynchronous client, read here."""
        return self._trace(response, dialect, profile, await responses.aexchange_of(response))

    def _trace(
        self,
        source: TraceSource,
        dialect: str | None,
        profile: str | None,
        exchange: Any = None,
    ) -> Trace:
        __tracebackhide__ = True  # the test's own line says where
        flattened = responses.is_response(source) and responses.is_vcr_active()
        if flattened:
            warnings.warn(responses.FlattenedWarning(responses.FLATTENED), stacklevel=3)
        settings = self._settings
        is_file = isinstance(source, Path)
        try:
            trace = trace_of(
                source if exchange is None else exchange,
                dialect=dialect or settings.dialect,
                profile=profile or settings.profile,
                folder=None if is_file else self._request.getfixturevalue("tmp_path"),
                fidelity="text" if flattened else "bytes",
                notes=(responses.FLATTENED,) if flattened else (),
                trusted=settings.trusted,
            )
        except ConformanceError as err:
            raise err.with_traceback(None) from None
        exercised = settings.require_exercised
        return replace(
            trace,
            strict=settings.strict,
            require_exercised=exercised,
            suites=settings.suites,
        )


class ConformanceFailure(AssertionError):  # noqa: N818  # read as a sentence, as AssertionError is
    """Rules were violated. `report` holds all that was found; the first line names the gravest."""

    __module__ = "conformance"  # where it is imported from, and what a test run prints

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def assert_conforms(
    trace: Trace | TraceSource,
    *suites: str,
    strict: bool | None = None,
    require_exercised: bool | None = None,
) -> Report:
    """Judges a trace by suites (ids, groups, files) and gives the report.

    Where none is named, those of the project judge, else all that ship. A response, a path or bytes
    will do for a trace. Raises ConformanceFailure if a MUST is violated; with `strict` a SHOULD;
    with `require_exercised` if a rule was not exercised (both as the test run says, unless they are
    given); and if no rule judges what came, for that would look green.
    """
    __tracebackhide__ = True
    judged_trace = trace if isinstance(trace, Trace) else trace_of(trace)
    report = judged_trace.judged(_load_rulebook(suites or judged_trace.suites))
    fault = _describe_faults(
        report,
        strict=judged_trace.strict if strict is None else strict,
        require_exercised=judged_trace.require_exercised
        if require_exercised is None
        else require_exercised,
    )
    if fault:
        raise ConformanceFailure(fault, report)
    return report


def _describe_faults(report: Report, *, strict: bool, require_exercised: bool) -> str:
    if not any(stream.verdicts for stream in report.streams):
        spoken = ", ".join(sorted({stream.dialect for stream in report.streams}))
        return f"no rule judges {spoken}"
    if report.exit_code(strict=strict, require_exercised=require_exercised) == 0:
        return ""
    clean = redact_report(report)
    gaps = _gap_lines(clean) if require_exercised else []
    return "\n".join([*_gravest_finding(clean), *gaps, "", text.render(clean).rstrip()])


def _gravest_finding(report: Report) -> list[str]:
    found = [(stream, finding) for stream in report.streams for finding in stream.findings]
    if not found:
        return []
    stream, finding = min(found, key=lambda each: _LEVELS.index(each[1].level))
    more = f" (and {len(found) - 1} more)" if found[1:] else ""
    place = finding_place(stream.file, finding)
    return [f"{finding.verdict} {finding.level} {finding.rule} {place}{more}"]


def _gap_lines(report: Report) -> list[str]:
    unclear = GAPS | {Verdict.INCONCLUSIVE}
    return [f"{verdict} {rule}" for rule, verdict in report.verdicts.items() if verdict in unclear]


@cache
def _load_rulebook(suites: tuple[str, ...]) -> Rulebook:
    """Loaded once in a process: a test run judges by the same rules again and again."""
    return Rulebook.load(suites)
