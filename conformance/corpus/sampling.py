"""A small set of recordings from a large corpus: each finding once, and every rule exercised.

Rule 1: of each group of findings the shortest stream is taken; then, as long as a rule has nothing
that passes it, the stream that passes most such rules, the shortest of equals.
Rule 2: what is written is redacted, and says in its header what fails: it is judged again as it
was written, and is a regression test from then on. What fails lies below `mutants`, which searches
of folders skip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import Cassette, Redactor
from conformance.cassette.search import MUTANTS
from conformance.cassette.write import write
from conformance.core.errors import ConformanceError, Place, UsageError
from conformance.corpus.exemplars import Exemplar, find_exemplars
from conformance.corpus.grouping import STREAM, StreamPlace, shortest_streams, stream_place
from conformance.corpus.judge import CorpusJudge
from conformance.corpus.output import read_about, read_table
from conformance.judging.result import StreamResult
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.recordings.redaction import redact_evidence
from conformance.rules.verdicts import Verdict

_RULES: Final = "passed_rules"
_Passing = tuple[frozenset[str], dict[str, Any]]
"""The rules that a stream passes, and where it is."""


class SampledRecording(Struct, frozen=True):
    """A recording of a sample: where it was written, and what it is there for."""

    file: Path
    id: str
    fails: tuple[str, ...]
    exercises: tuple[str, ...]


class CorpusSample(Struct, frozen=True):
    """What was written, the rules that something passes, and what could not be taken and why."""

    recordings: tuple[SampledRecording, ...]
    exercised: int
    left_out: tuple[str, ...]


class _Wanted(Struct, frozen=True):
    place: StreamPlace
    group: str = ""  # of the findings that it shows, empty where it is there for what passes
    rule: str = ""
    exercises: tuple[str, ...] = ()


def sample_corpus(folder: Path, out: Path, source: str | None = None) -> CorpusSample:
    """Writes the sample of a checked corpus. Raises UsageError for a folder that is not empty."""
    about = read_about(folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("expected an empty folder, or none", place=Place(str(out)))
    judge = CorpusJudge(about.choices)
    wanted = [*_finding_places(folder)]
    streams = _passing_streams(folder, judge.linked_rules)
    covered = _passed_by(streams, {each.place for each in wanted})
    wanted += _passing_places(streams, covered)
    found = find_exemplars(about, (each.place for each in wanted), source)
    written: list[SampledRecording] = []
    left_out: list[str] = []
    for number, each in enumerate(wanted, 1):
        try:
            written.append(_write_sample(each, found[each.place], judge, out, number))
        except ConformanceError as err:
            left_out.append(f"{each.place.id}: {err.message}")
    exercised = covered.union(*(each.exercises for each in wanted))
    return CorpusSample(tuple(written), len(exercised), tuple(left_out))


def _finding_places(folder: Path) -> Iterator[_Wanted]:
    """The shortest stream of each group of findings; one that shows several appears once."""
    table = read_table(folder, "findings", (*STREAM, "event", "bytes", "group", "rule"))
    for each in shortest_streams(table, ("group",), "event", "rule"):
        yield _Wanted(stream_place(each, each["event"]), each["group"], each["rule"])


def _passed_by(streams: Sequence[_Passing], places: Iterable[StreamPlace]) -> set[str]:
    known = {(each.file, each.part, each.row, each.exchange) for each in places}
    passed: set[str] = set()
    for rules, each in streams:
        if (each["file"], each["part"], each["row"], each["exchange"]) in known:
            passed |= rules
    return passed


def _passing_streams(folder: Path, linked: frozenset[str]) -> list[_Passing]:
    """Of streams that pass the same rules the shortest, by dialect, with the rules.

    One row alone passes none of those that compare rows; a file may hold a conversation.
    """
    table = read_table(folder, "verdicts", (*STREAM, "bytes", "dialect", _RULES))
    streams = shortest_streams(table, ("dialect", _RULES), "bytes")
    passed = ((frozenset(each[_RULES].split()), each) for each in streams)
    return [(r if each["id"] == each["file"] else r - linked, each) for r, each in passed]


def _passing_places(candidates: Sequence[_Passing], covered: set[str]) -> Iterator[_Wanted]:
    """Streams that pass rules which nothing passes yet, until there is none."""
    known = set(covered)
    while True:
        best = max(
            (
                (len(rules - known), -each["bytes"], at)
                for at, (rules, each) in enumerate(candidates)
            ),
            default=(0, 0, 0),
        )
        if not best[0]:
            return
        rules, each = candidates[best[2]]
        yield _Wanted(
            stream_place(each, 0),
            exercises=tuple(sorted(rules - known)),
        )
        known |= rules


def _write_sample(
    wanted: _Wanted, exemplar: Exemplar, judge: CorpusJudge, out: Path, number: int
) -> SampledRecording:
    if exemplar.stream is None or exemplar.result is None:
        raise UsageError(exemplar.missing)
    result = exemplar.result
    cassette = _named_cassette(exemplar.stream.recording.cassette, result)
    clean = redact_evidence(cassette, Redactor(), judge.rulebook)
    fails = _failing_rules(clean, judge)
    if wanted.rule in judge.linked_rules - fails and not exemplar.stream.path:
        raise UsageError(f"{wanted.rule} compares rows, and a sample holds each by itself")
    if wanted.rule and wanted.rule not in fails:
        raise UsageError(f"{wanted.rule} is not found any more once secrets are replaced")
    header = replace(clean.header, expect=dict.fromkeys(sorted(fails), "FAIL"))
    topic = wanted.rule.replace("/", ".") or "conforms"
    folder = out / MUTANTS if fails else out
    file = folder / result.dialect / f"{number:03}-{topic}.cassette.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, replace(clean, header=header), seal=True)
    return SampledRecording(file, wanted.place.id, tuple(sorted(fails)), wanted.exercises)


def _named_cassette(cassette: Cassette, result: StreamResult) -> Cassette:
    """The recording with what it was judged by; a profile that it shows itself is not named."""
    named = result.profile if result.named else None
    header = replace(
        cassette.header,
        dialect=cassette.header.dialect or result.dialect,
        profile=cassette.header.profile or named,
        expect={},
    )
    return replace(cassette, header=header, torn=False)


def _failing_rules(cassette: Cassette, judge: CorpusJudge) -> set[str]:
    recording = InMemory(Path("sample.cassette.jsonl"), "cassette", cassette)
    results = check_recording(recording, judge.rulebook, CheckChoices())
    return {
        rule
        for result in results
        for rule, verdict in result.verdicts.items()
        if verdict is Verdict.FAIL
    }
