"""Recordings that mutants are made of, how they are judged in memory, and mutants as cassettes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import (
    Cassette,
    Recording,
    Redactor,
    discover,
    open_recording,
    redact,
    write,
)
from conformance.cassette.redaction.own_keys import own_keys
from conformance.core import shipped
from conformance.core.errors import UsageError
from conformance.core.events import SEMANTIC_EVENTS, Exchange
from conformance.editing.operator import Mutant, Operator, make_mutants
from conformance.editing.stream import Stream
from conformance.evidence.expectations import RUN
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.mutate.client_defects import client_mutants
from conformance.mutate.stream import take_apart
from conformance.profiles.profile import Profile
from conformance.recordings.both_hops import stated_dialect
from conformance.recordings.check import check_trusted
from conformance.recordings.choices import CheckChoices, choose_dialect
from conformance.recordings.in_memory import InMemory
from conformance.recordings.settings import RecordingSettings
from conformance.recordings.unchanged import UnchangedExchanges
from conformance.rules.verdicts import Level, Verdict

SUFFIX: Final = ".cassette.jsonl"
_ORIGIN_KEYS: Final = ("base", "operator")
_KILLS: Final = (Level.MUST, Level.SHOULD)


class BaseRecording(Struct, frozen=True):
    """A recording under a name, with the profile it is judged by."""

    name: str
    recording: Recording
    choices: CheckChoices

    @property
    def cassette(self) -> Cassette:
        return self.recording.cassette

    @property
    def has_client(self) -> bool:
        """Whether a client reported what it saw; such a recording has mutants of its own."""
        return any(exchange.seen is not None for exchange in self.cassette.exchanges)

    @property
    def is_live(self) -> bool:
        return self.cassette.header.origin == "live"

    @property
    def is_of_run(self) -> bool:
        """Whether it was recorded by a run, which states what it expects and what it played."""
        return RUN in self.cassette.header.extra

    @property
    def conforms(self) -> bool:
        """Whether no rule fails on it, and nothing but rules is asked of it."""
        return not self.is_of_run and not self.judge(Rulebook.load()).failing

    def streams(self) -> Iterator[Stream]:
        """Every exchange, taken apart. Raises UsageError where its dialect is not known."""
        for exchange in self.cassette.exchanges:
            stated = stated_dialect(self.recording, exchange, self.choices.dialect)
            dialect = choose_dialect(exchange, stated).name
            yield take_apart(exchange, dialect, framed=self.cassette.header.fidelity != "events")

    def profile(self, stream: Stream, rulebook: Rulebook) -> Profile:
        """The profile by which the stream is judged."""
        settings = RecordingSettings(self.recording, rulebook, self.choices)
        return settings.of_exchange(stream.exchange).profile

    def with_exchange(self, edited: Exchange) -> Cassette:
        every = self.cassette.exchanges
        exchanges = tuple(edited if each.number == edited.number else each for each in every)
        return replace(self.cassette, exchanges=exchanges)

    def judge(
        self,
        rulebook: Rulebook,
        edited: Exchange | None = None,
        unchanged: UnchangedExchanges | None = None,
    ) -> RuleOutcomes:
        """What is found, with one exchange replaced if there is another one."""
        cassette = self.with_exchange(edited) if edited is not None else self.cassette
        in_memory = InMemory(self.recording.path, "cassette", cassette)
        return RuleOutcomes.of(check_trusted(in_memory, rulebook, self.choices, unchanged))

    def unchanged(self) -> UnchangedExchanges | None:
        """The exchanges that mutants leave as they are, judged once for all mutants."""
        several = len(self.cassette.exchanges) > 1
        return UnchangedExchanges(self.cassette.exchanges) if several else None

    def with_client_view(self, rulebook: Rulebook) -> BaseRecording:
        """The recording with the report of a client that shows everything as it was sent."""
        keeping = replace(self.choices, keep=True)
        results = check_trusted(self.recording, rulebook, keeping)
        wire = {each.exchange: each for each in results if each.view == "wire"}
        exchanges = tuple(
            replace(exchange, seen=tuple(_semantic_events(wire[exchange.number])))
            for exchange in self.cassette.exchanges
        )
        implementation = {"name": "everything", "events": sorted(SEMANTIC_EVENTS)}
        header = self.cassette.header
        header = replace(header, extra={**header.extra, "implementation": implementation})
        cassette = replace(self.cassette, header=header, exchanges=exchanges)
        return replace(self, recording=InMemory(self.recording.path, "cassette", cassette))


def _semantic_events(result: StreamResult) -> Iterator[dict[str, Any]]:
    semantic = (event for event in result.events if event.layer == "semantic")
    yield from ({"type": event.type, **event.data} for event in semantic)


class RuleOutcomes(Struct, frozen=True):
    """The rules of one judged recording by outcome."""

    killed_by: frozenset[str]  # MUST and SHOULD rules that fail
    failing: frozenset[str]  # rules that FAIL or end in ERROR
    passing: frozenset[str]

    @classmethod
    def of(cls, results: Iterable[StreamResult]) -> RuleOutcomes:
        streams = list(results)
        found = [f for stream in streams for f in stream.findings]
        verdicts = [pair for stream in streams for pair in stream.verdicts.items()]
        bad = (Verdict.FAIL, Verdict.ERROR)
        return cls(
            frozenset(finding.rule for finding in found if finding.level in _KILLS),
            frozenset(rule for rule, verdict in verdicts if verdict in bad),
            frozenset(rule for rule, verdict in verdicts if verdict is Verdict.PASS),
        )


def shipped_bases() -> list[BaseRecording]:
    """The shipped cassettes that fail no rule.

    Recordings of real servers may hold faults that are known of them, and those of whole runs hold
    more than one fault at a time could be put into: neither is a base.
    """
    folder = shipped.cassettes()
    every = (open_base(path, folder) for path in discover(folder))
    alone = (each for each in every if not each.is_of_run)
    return [each for each in alone if not each.is_live or each.conforms]


def shipped_mutants() -> list[BaseRecording]:
    """The shipped cassettes that fail on purpose."""
    folder = shipped.cassettes()
    held = folder / "mutants"
    return [open_base(path, folder) for path in discover(held)] if held.is_dir() else []


def open_base(
    path: Path, root: Path | None = None, *, dialect: str | None = None, profile: str | None = None
) -> BaseRecording:
    """One recording; below `root` it is named by its place there, and finds profiles there."""
    recording = open_recording(path, dialect=dialect)
    if not recording.exchanges:
        raise UsageError(f"{path} holds no exchange")
    name = path.relative_to(root).as_posix() if root else path.name
    folders = (root / "profiles",) if root and (root / "profiles").is_dir() else ()
    return BaseRecording(
        name.removesuffix(SUFFIX), recording, CheckChoices(dialect, profile, folders)
    )


class JudgedMutant(Struct, frozen=True):
    """A mutant of a recording and the rules that fail on it and not on the recording."""

    mutant: Mutant
    exchange: int
    rules: tuple[str, ...]
    cassette: Cassette


def judge_mutants(
    base: BaseRecording, operators: Sequence[Operator], rulebook: Rulebook
) -> Iterator[JudgedMutant]:
    """Every mutant that the operators make, and those of the client if one reported."""
    unchanged = base.unchanged()
    plain = base.judge(rulebook, unchanged=unchanged)
    for stream in base.streams():
        made = [mutant for each in operators for mutant in make_mutants(each, stream)]
        for mutant in (*made, *client_mutants(stream.exchange)):
            new = base.judge(rulebook, mutant.exchange, unchanged).failing - plain.failing
            cassette = _as_cassette(base, mutant)
            yield JudgedMutant(mutant, stream.exchange.number, tuple(sorted(new)), cassette)


def _as_cassette(base: BaseRecording, mutant: Mutant) -> Cassette:
    """The mutant with a header that says what it was made of, and no verdict."""
    cassette = base.with_exchange(mutant.exchange)
    kept = {key: value for key, value in cassette.header.extra.items() if key not in _ORIGIN_KEYS}
    extra = {**kept, "base": base.name, "operator": mutant.operator}
    return replace(cassette, header=replace(cassette.header, expect={}, extra=extra))


def write_mutant(one: JudgedMutant, folder: Path) -> Path:
    """Writes the mutant below the folder, sealed, and without what the user calls a secret."""
    folder.mkdir(parents=True, exist_ok=True)
    cassette = redact(one.cassette, Redactor(opaque=False)) if own_keys() else one.cassette
    path = folder / f"{one.mutant.name}.{one.exchange}{SUFFIX}"
    write(path, cassette, seal=True)
    return path
