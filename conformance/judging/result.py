"""The results of a check: findings, verdicts per exchange, and the report over a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.core.events import Event
from conformance.judging.soak_figures import SoakFigures
from conformance.rules.about import NOTHING, About
from conformance.rules.verdicts import GAPS, Level, Verdict, combine

CLAIMS: Final = "claims"
"""The writers that change a rule's verdict by other evidence than its own."""


class ContextLine(Struct, frozen=True):
    """One frame near a finding: its number, wire type, and a clipped view of its data."""

    event: int
    type: str
    text: str
    at: bool = False  # the finding is here


class CarriedAnswer(Struct, frozen=True):
    """An answer that a request continues: its exchange, and the evidence.

    `entries` are the places under `history`, from 0, that bring it back; empty where it stayed with
    the server. `others` are exchanges whose answers fit as well. `file` and `other_files` name the
    recordings that hold them, and are empty where that is the request's own.
    """

    exchange: int
    evidence: str
    history: str = ""
    entries: tuple[int, ...] = ()
    others: tuple[int, ...] = ()
    file: str = ""
    other_files: tuple[str, ...] = ()


class ReferencedEvent(Struct, frozen=True):
    """The event of another exchange or hop that a finding refers to; fields as in `Finding`.

    `side` is its source: an application's provider, or the answer that comes back, which is a
    `turn` of its conversation, from 1.
    """

    file: str
    exchange: int
    event: int
    line: int | None
    byte: int | None
    type: str
    text: str
    side: Literal["upstream", "answer"] = "upstream"
    turn: int = 0


class Finding(Struct, frozen=True):
    """One violation. `expected`, `got` and `after` use wire types, not a rule's local names.

    `event` is the frame number (0: request or response head), `line` the 1-based line of the file
    that holds it, `byte` the 0-based offset in the body; both None where they do not apply.
    `id` is a hash of rule, exchange, slice, expected and got types: stable under re-recording.
    `answers` are the numbers of the answers that have it, the first of them where there are very
    many; `in_answers` is how many have it. `unit` is what the dialect calls an answer, where the
    exchange holds several; else empty.
    `upstream` is the provider's event where both hops of an application are compared, or that of
    the answer which a request brings back.
    `reproduce` is the command that shows it again, of a client under test; else empty. `fix` is
    what the rule says to do about it. Findings are put together by `about`.
    """

    rule: str
    level: Level
    verdict: Verdict
    event: int
    line: int | None
    byte: int | None
    slice: Mapping[str, Any]
    expected: tuple[str, ...]
    got: str
    after: str
    message: str
    says: str
    hint: str
    context: tuple[ContextLine, ...]
    source: tuple[Mapping[str, str], ...]
    id: str
    upstream: ReferencedEvent | None = None
    reproduce: str = ""
    answers: tuple[int, ...] = (1,)
    in_answers: int = 1
    unit: str = ""
    fix: str = ""
    about: About = NOTHING


class VerdictChange(Struct, frozen=True):
    """A change of a rule's verdict in the ledger after the judge had closed.

    `by` is one of `ledger.WRITERS`. `was` is None if the rule had no verdict before.
    """

    rule: str
    was: Verdict | None
    verdict: Verdict
    by: str
    why: str = ""


class AnswerError(Struct, frozen=True):
    """The first error event of a stream.

    `code` is the code of the error, or its type. `is_all`: the stream had no content before it.
    """

    event: int
    code: str
    message: str
    is_all: bool = False


class MergedStreams(Struct, frozen=True):
    """How many streams one result represents.

    `judged` counts by rule the streams that it judged, `having` by group the streams with findings
    of it: those are reported in a stream of their own.
    """

    streams: int
    judged: Mapping[str, int]
    having: Mapping[str, int]


class StreamResult(Struct, frozen=True):
    """Verdicts and findings of one exchange of one file.

    `named` is False if neither the user nor the cassette named the profile; `notes` are
    sentences for the reader (what was left out and why); `changes` are in the order in which
    they were made. `beside` counts requests under way at the same time, None if unknown.
    `merged` is None for a single stream. `answers` counts the answers in sequence.
    """

    file: str
    exchange: int
    dialect: str
    profile: str
    named: bool
    verdicts: Mapping[str, Verdict]
    findings: tuple[Finding, ...]
    scenario: str = ""
    role: str = ""
    view: str = "wire"
    target: str = ""  # name-version, as the recording says it
    hop: str = ""  # of a gateway's recording: downstream or upstream
    reasons: Mapping[str, str] = field(default_factory=dict)  # rule -> why not PASS or FAIL
    notes: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()  # only with keep=True
    changes: tuple[VerdictChange, ...] = ()
    framing: str = ""  # of the answer: a word of `core.framing.Framing`; empty where none came
    beside: int | None = None
    error: AnswerError | None = None
    merged: MergedStreams | None = None
    answers: int = 1
    links: tuple[CarriedAnswer, ...] = ()  # answers that its request continues
    turn: int = 0  # of its conversation, from 1; 0 where no request continues
    calls: int = 0  # that were held against the tools of the request
    fitting_calls: int = 0  # and fit them
    keys: Any = None  # while files are linked: by what others may carry it on


ShowResults = Callable[[Sequence[StreamResult]], None]
"""Takes how some streams were judged while others are still to come; several threads may call."""


class FindingExcuse(Struct, frozen=True):
    """Why a finding was expected. `entry` is the place of the baseline's entry."""

    reason: str
    entry: str


# File, exchange, view, rule and id of a finding.
FindingKey = tuple[str, int, str, str, str]


class AppliedBaseline(Struct, frozen=True):
    """The outcome of a baseline of expected failures for a run.

    `stale` are entries that no longer describe it, one line each, with the entry's place;
    `stale_groups` has one line for all entries of one rule that are stale for one reason.
    `repaired` are entries whose failures are all gone.
    """

    file: str
    excuses: Mapping[FindingKey, FindingExcuse] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    stale_groups: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()


class JudgedCall(Struct, frozen=True):
    """The call of the command: `started` in UTC (ISO 8601), duration in seconds, and its options.

    `target` is the address of a live target, empty if recordings were judged. `suites` are the
    rule files by suite id; `rules_as_of` is the version whose rules were chosen. `kept` is False
    if the recordings are deleted when the call is over.
    """

    started: str
    seconds: float
    command: tuple[str, ...] = ()
    target: str = ""
    suites: Mapping[str, str] = field(default_factory=dict)
    rules_as_of: str | None = None
    kept: bool = True


class Report(Struct, frozen=True):
    """Everything one run found. `errors` are files that could not be judged, one line each.

    `notes` are sentences about the whole run; `baseline` and `soak` are None if there was none.
    `passed_over` are files below folders whose format is unknown. `call` is None if the report was
    not made from the command line.
    """

    streams: tuple[StreamResult, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    baseline: AppliedBaseline | None = None
    soak: SoakFigures | None = None
    passed_over: tuple[str, ...] = ()
    call: JudgedCall | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(f for stream in self.streams for f in stream.findings)

    def excuse(self, stream: StreamResult, finding: Finding) -> FindingExcuse | None:
        """Why this finding was expected; None if it was not."""
        return self.baseline.excuses.get(finding_key(stream, finding)) if self.baseline else None

    @property
    def unexpected(self) -> tuple[Finding, ...]:
        """Findings that no entry of a baseline excuses."""
        return tuple(
            f for stream in self.streams for f in stream.findings if not self.excuse(stream, f)
        )

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdict per rule over the run, by the combining order."""
        # Thousands of streams give the same few pairs.
        given = {pair for stream in self.streams for pair in stream.verdicts.items()}
        several: dict[str, list[Verdict]] = {}
        for rule, verdict in given:
            several.setdefault(rule, []).append(verdict)
        return {rule: combine(several[rule]) for rule in sorted(several)}

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(e for stream in self.streams for e in stream.events)

    @property
    def silenced(self) -> dict[str, tuple[str, ...]]:
        """Rules that something else than their own evidence silenced, by what did it.

        That is what recordings say of themselves, and profiles that streams chose by their own
        fields; what silenced most rules comes first.
        """
        found: dict[str, set[str]] = {}
        for stream in self.streams:
            for rule, why in silenced_rules(stream).items():
                found.setdefault(why, set()).add(rule)
        ordered = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        return {why: tuple(sorted(rules)) for why, rules in ordered}

    def summary(self) -> dict[Verdict, int]:
        """How many rules ended with each verdict over the run."""
        counts = dict.fromkeys(Verdict, 0)
        for verdict in self.verdicts.values():
            counts[verdict] += 1
        return counts

    def exit_code(self, *, strict: bool = False, require_exercised: bool = False) -> int:
        """0 conforms · 1 findings · 2 a file could not be read · 4 internal error · 5 nothing.

        An answer that is only an error is nothing, too. Under a baseline every level counts: it
        says exactly what fails, so what it does not list is news; and an entry that no longer
        describes the run is a finding, too.
        """
        if any(Verdict.ERROR in stream.verdicts.values() for stream in self.streams):
            return 4
        if self.errors:
            return 2
        if self._violated(strict=strict):
            return 1
        unclear = GAPS | {Verdict.INCONCLUSIVE}
        is_unclear = not unclear.isdisjoint(self.verdicts.values())
        if require_exercised and (is_unclear or self.silenced or self.passed_over):
            return 1
        unanswered = any(stream.error and stream.error.is_all for stream in self.streams)
        return 0 if self.streams and not unanswered else 5

    def _violated(self, *, strict: bool) -> bool:
        if self.baseline is not None:
            return bool(self.baseline.stale or self.unexpected)
        binding = {Level.MUST, Level.SHOULD} if strict else {Level.MUST}
        return any(finding.level in binding for finding in self.findings)


def silenced_rules(stream: StreamResult) -> dict[str, str]:
    """Rules that something else than their own evidence silenced, with what did it."""
    return {each.rule: each.why for each in stream.changes if each.by == CLAIMS}


def finding_key(stream: StreamResult, finding: Finding) -> FindingKey:
    """What distinguishes a finding from every other of the run."""
    return stream.file, stream.exchange, stream.view, finding.rule, finding.id


def merge_reports(reports: Iterable[Report]) -> Report:
    parts = tuple(reports)
    return Report(
        streams=tuple(s for part in parts for s in part.streams),
        errors=tuple(e for part in parts for e in part.errors),
        notes=tuple(dict.fromkeys(n for part in parts for n in part.notes)),
        soak=next((part.soak for part in parts if part.soak), None),
        passed_over=tuple(file for part in parts for file in part.passed_over),
    )
