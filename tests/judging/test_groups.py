from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

import conformance
from conformance.cassette import read
from conformance.core.shipped import cassettes
from conformance.judging.groups import every_group, finding_groups, groups_by_finding
from conformance.judging.lineage import level_rank
from conformance.judging.result import (
    AppliedBaseline,
    Finding,
    FindingExcuse,
    ReferencedEvent,
    Report,
    StreamResult,
    finding_key,
)
from conformance.recordings.check import check_paths
from conformance.rules.about import About, BreachKind, Change
from conformance.rules.verdicts import Level, Verdict
from tests.plain_results import plain_finding


def stream(number: int, *findings: Finding, **verdicts: Verdict) -> StreamResult:
    given = {each.rule: each.verdict for each in findings} | verdicts
    return StreamResult("f", number, "openai.chat", "p", True, given, findings)


def shown(report: Report) -> list[Any]:
    """Rule, streams and findings of each group, with those that follow it."""
    return [
        (g.first.rule, g.streams, len(g.places), [each.first.rule for each in g.following])
        for g in finding_groups(report)
    ]


def test_findings_that_differ_in_values_are_one_group() -> None:
    streams = [
        stream(n, plain_finding(event=n, message=f"expected 0, got {n}", slice={"index": n}))
        for n in range(1, 5)
    ]
    judged = Report((*streams, stream(5, **{"a/b/c": Verdict.PASS}), stream(6, x=Verdict.PASS)))
    (group,) = finding_groups(judged)
    assert (group.streams, group.judged, len(group.places)) == (4, 5, 4)
    assert group.message == "expected …, got …"
    assert (group.first, group.stream) == (streams[0].findings[0], streams[0])


def test_the_gravest_and_then_the_most_frequent_come_first() -> None:
    mild, rare, often = (
        plain_finding(rule="mild", level=Level.SHOULD, event=1),
        plain_finding(rule="rare", event=2),
        plain_finding(rule="often", event=3),
    )
    report = Report((stream(1, mild, rare), stream(2, mild, often), stream(3, mild, often)))
    assert [each[0] for each in shown(report)] == ["often", "rare", "mild"]


def test_what_is_altered_of_other_turns_follows_in_other_streams_too() -> None:
    beside_calls, later, other = (
        plain_finding(rule=f"history/messages/{name}", event=0)
        for name in ("signed-unchanged", "turn-signed", "instructions-kept")
    )
    report = Report((stream(1, later), stream(2, beside_calls), stream(3, other)))
    assert shown(report) == [
        (beside_calls.rule, 1, 1, [later.rule]),
        (other.rule, 1, 1, []),
    ]
    # In one stream either may lead; the more frequent one does.
    both = Report((stream(1, later, beside_calls), stream(2, later)))
    assert shown(both) == [(later.rule, 2, 1 + 1, [beside_calls.rule])]


def altered_turns(*turns: tuple[str, Change]) -> list[tuple[str, list[str]]]:
    """The groups of findings, each in a stream of its own, with what follows them."""
    found = (plain_finding(rule=rule, event=0, about=About(change=how)) for rule, how in turns)
    report = Report(tuple(stream(n, each) for n, each in enumerate(found, 1)))
    return [(rule, following) for rule, _, _, following in shown(report)]


def test_two_ways_to_alter_a_turn_are_two_groups() -> None:
    lost, cut = Change.LOST, Change.CUT
    beside_calls, later, app = (
        *("history/messages/signed-unchanged", "history/messages/turn-signed"),
        "hop/opaque",
    )
    assert altered_turns((beside_calls, lost), (later, lost)) == [(beside_calls, [later])]
    assert altered_turns((beside_calls, lost), (app, lost)) == [(beside_calls, [app])]
    assert altered_turns((beside_calls, lost), (later, cut)) == [(beside_calls, []), (later, [])]
    assert altered_turns((beside_calls, cut), (app, lost)) == [(beside_calls, []), (app, [])]


def test_one_refusal_is_one_group_whatever_a_step_expected() -> None:
    why = "got refused: HTTP 400, history is not supported"

    def groups(*messages: str) -> int:
        found = (plain_finding(rule="scenario/ending", event=0, message=each) for each in messages)
        return len(shown(Report(tuple(stream(n, each) for n, each in enumerate(found, 1)))))

    one, other = f"expected complete, {why}", f"expected complete or tools, {why}"
    assert groups(one, other) == 1
    assert groups(one, "expected complete, got failed: HTTP 500, content type text/plain") == 2
    # What came in place of an ending that was due is another fault each time.
    assert groups("expected length, got complete", "expected refused, got complete") == 2


def test_a_group_follows_what_it_never_comes_without() -> None:
    cause = plain_finding(rule="cause")
    effect = plain_finding(rule="effect", level=Level.SHOULD)
    alone = [stream(1, cause), stream(2, cause, effect)]
    assert shown(Report(tuple(alone))) == [("cause", 2, 2, ["effect"])]
    without = Report((*alone, stream(3, effect)))
    assert shown(without) == [("cause", 2, 2, []), ("effect", 2, 2, [])]


def test_what_follows_over_others_stands_below_the_first_cause() -> None:
    fields = (("output_index", "-1"),)
    index = plain_finding(rule="index", about=About(BreachKind.FIELD, "item", fields=fields))
    part = plain_finding(rule="part", event=4, slice={"output_index": -1})
    text = plain_finding(rule="text", event=4, level=Level.SHOULD)
    assert shown(Report((stream(1, index, part, text),))) == [("index", 1, 1, ["part", "text"])]


def test_of_equals_on_one_event_the_more_frequent_leads_everywhere() -> None:
    rare, often = plain_finding(rule="a"), plain_finding(rule="b")
    assert shown(Report((stream(1, rare, often), stream(2, often)))) == [("b", 2, 2, ["a"])]


def test_what_is_expected_is_apart_and_no_cause() -> None:
    cause, effect = plain_finding(rule="cause"), plain_finding(rule="effect")
    one, other = stream(1, cause, effect), stream(2, cause)
    excuses = {finding_key(one, cause): FindingExcuse("known", "b.yaml:3")}
    report = Report((one, other), baseline=AppliedBaseline("b.yaml", excuses))
    assert [(g.first.rule, g.excuse and g.excuse.reason) for g in finding_groups(report)] == [
        ("effect", None),
        ("cause", None),
        ("cause", "known"),
    ]


def test_circumstances_are_of_the_streams_that_were_judged() -> None:
    found = plain_finding()
    streams = [
        StreamResult(
            "f", n, "d", "p", True, {found.rule: found.verdict}, (found,) if n < 8 else (),
            framing="sse" if n < 8 else "body",
        )
        for n in range(16)
    ]  # fmt: skip
    (group,) = finding_groups(Report(tuple(streams)))
    assert group.circumstances == ("only streamed (8 of 8, 0 of 8 in bodies)",)


FINDINGS = st.lists(
    st.builds(
        lambda rule, event, level, index: plain_finding(
            rule=rule, event=event, level=level, slice={} if index is None else {"index": index}
        ),
        st.sampled_from("abcd"),
        st.integers(0, 3),
        st.sampled_from(Level),
        st.none() | st.integers(0, 2),
    ),
    max_size=8,
)


@given(st.lists(FINDINGS, max_size=5))
def test_every_finding_is_in_one_group(found: Sequence[Sequence[Finding]]) -> None:
    report = Report(tuple(stream(n, *each) for n, each in enumerate(found)))
    heads = finding_groups(report)
    groups = list(every_group(heads))
    assert sum(len(group.places) for group in groups) == len(report.findings)
    assert len({group.id for group in groups}) == len(groups)
    assert set(groups_by_finding(report)) == {
        finding_key(each, finding) for each in report.streams for finding in each.findings
    }
    for head in heads:
        having = {id(place.stream) for place in head.places}
        for other in head.following:
            assert {id(place.stream) for place in other.places} <= having
            assert level_rank(other.first) >= level_rank(head.first)


def test_groups_are_there_for_programs() -> None:
    (group,) = conformance.finding_groups(Report((stream(1, plain_finding()),)))
    assert isinstance(group, conformance.FindingGroup)


_RECORDED: Final = "openai.responses/openai/incomplete-in-summary.cassette.jsonl"
_CLOSING: Final = re.compile(r"event: \S+\.done")


def _events() -> list[str]:
    (first, *_) = read(cassettes() / _RECORDED).exchanges
    return [each for each in first.body.decode().split("\n\n") if each.strip()]


def _judged(folder: Path, events: list[str], ends: list[str]) -> Report:
    (first, *_) = read(cassettes() / _RECORDED).exchanges
    run = {"target": "server", "deterministic": True, "steps": {"first": {"ends": ends}}}
    head = {"cassette": "1.0", "dialect": "openai.responses", "profile": "openai", "run": run}
    asked = first.request.json if first.request else None
    request = {"method": "POST", "path": "/v1/responses", "json": asked}
    lines: list[dict[str, Any]] = [
        head,
        {"exchange": 1, "request": request, "scenario": "own", "role": "first"},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        *({"text": f"{event}\n\n"} for event in events),
        {"end": "eof"},
    ]
    path = folder / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    return report


def test_wherever_a_stream_breaks_off_that_is_one_group(tmp_path: Path) -> None:
    events = _events()
    for count in range(1, len(events)):
        groups = finding_groups(_judged(tmp_path, events[:count], ["cut"]))
        assert [group.first.rule for group in groups] == ["wire/responses/terminal-present"]


def test_an_answer_that_says_that_it_broke_off_is_one_group(tmp_path: Path) -> None:
    *events, last = _events()
    begun = next(n for n, event in enumerate(events) if _CLOSING.search(event))
    broken = last.replace("max_output_tokens", "upstream_eof")
    broken = re.sub(r'("sequence_number": ?)\d+', rf"\g<1>{begun}", broken)
    (group,) = finding_groups(_judged(tmp_path, [*events[:begun], broken], ["complete"]))
    assert group.first.rule == "scenario/ending"
    rules = {each.first.rule for each in every_group([group])}
    assert "wire/responses/item-closed" in rules
    assert "summary/lifecycle/part-lifecycle" not in rules


def test_a_history_that_breaks_upstream_is_one_cause_with_what_was_not_passed_on() -> None:
    to = ReferencedEvent("f", 2, 0, None, None, "http.request", "")
    lost = plain_finding(rule="scenario/asked-history", level=Level.SHOULD, upstream=to)
    broken = plain_finding(rule="history/calls/answered")
    both = Report((stream(1, lost), stream(2, broken)))
    assert shown(both) == [("history/calls/answered", 1, 1, ["scenario/asked-history"])]
    apart = Report((stream(1, lost), stream(4, broken)))
    assert [found[0] for found in shown(apart)] == [broken.rule, lost.rule]
