"""What a recording holds of a client is judged by the events that the client declared."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, open_recording, write
from conformance.core import shipped
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.mutate import open_base
from conformance.mutate.client_defects import DEFECTS, Defect
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

WATCHED = "openai.chat/client/thinking-then-text"
PARTS = "openai.responses/client/summary-four-parts"
BEFORE = "thinking/start/before-delta"
COUNTED = "summary/client/parts-counted"
MOST_TOGETHER = 3
"""Rules that one fault of a client breaks at once: text taken for thinking also ends its block."""


def judged(name: str, silent: tuple[str, ...], folder: Path, *, lost: str = "") -> Report:
    """What a client reported that declares, and tells, less than everything; `lost`: told never."""
    recording = open_recording(shipped.cassettes() / f"{name}.cassette.jsonl")
    header = recording.header
    about = dict(header.extra["implementation"])
    about["events"] = [event for event in about["events"] if event not in silent]
    extra = {**header.extra, "implementation": about}
    (exchange,) = recording.exchanges
    found = [e for e in exchange.seen or () if e["type"] not in (*silent, lost)]
    made = Cassette(replace(header, extra=extra), (replace(exchange, seen=tuple(found)),))
    path = folder / "watched.cassette.jsonl"
    write(path, made)
    return check_paths([path])


def of_client(report: Report, rule: str) -> tuple[Verdict, str]:
    (stream,) = [stream for stream in report.streams if stream.view == "client"]
    return stream.verdicts[rule], stream.reasons.get(rule, "")


def test_rules_about_events_that_are_not_declared_say_nothing(tmp_path: Path) -> None:
    report = judged(WATCHED, ("thinking.start", "thinking.end"), tmp_path)
    assert [finding.rule for finding in report.findings] == []
    why = "the client does not report thinking.start"
    assert of_client(report, BEFORE) == (Verdict.NOT_APPLICABLE, why)


def test_an_event_that_is_declared_is_owed(tmp_path: Path) -> None:
    report = judged(WATCHED, (), tmp_path, lost="thinking.start")
    assert of_client(report, BEFORE)[0] is Verdict.FAIL


@pytest.mark.parametrize(("name", "silent"), [(PARTS, "thinking.part"), (WATCHED, "tool.start")])
def test_undeclared_events_are_not_missed(name: str, silent: str, tmp_path: Path) -> None:
    report = judged(name, (silent,), tmp_path)
    missed = [
        (stream.view, rule)
        for stream in report.streams
        for rule, why in stream.reasons.items()
        if stream.view == "client" and silent in why and stream.verdicts[rule] is Verdict.VACUOUS
    ]
    assert missed == []


def test_a_comparison_of_what_is_not_declared_says_nothing(tmp_path: Path) -> None:
    report = judged(PARTS, ("thinking.part",), tmp_path)
    assert of_client(report, COUNTED)[0] is Verdict.NOT_APPLICABLE
    assert of_client(judged(PARTS, (), tmp_path), COUNTED)[0] is Verdict.PASS


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
@pytest.mark.parametrize("base", ["agui/agent/two-turns", "acp/agent/two-turns"])
def test_a_fault_in_the_first_of_two_turns_is_found(base: str, defect: Defect) -> None:
    rulebook = Rulebook.load()
    recording = open_base(shipped.cassettes() / f"{base}.cassette.jsonl")
    watched = recording.with_client_view(rulebook)
    (stream,) = watched.streams()
    seen = [dict(event) for event in stream.exchange.seen or ()]
    second = [at for at, event in enumerate(seen) if event["type"] == "message.start"][1]
    first = defect.edit([dict(event) for event in seen[:second]])
    edited = replace(stream.exchange, seen=(*first, *seen[second:]))
    found = watched.judge(rulebook, edited).killed_by
    assert bool(found) is (first != seen[:second])
    assert len(found) <= MOST_TOGETHER
