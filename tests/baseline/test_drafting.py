"""Baselines made and kept from a run: what is new, what holds, what goes."""

from __future__ import annotations

import json
from datetime import date

import pytest
from msgspec.structs import replace

from conformance.baseline.applying import apply_baseline
from conformance.baseline.drafting import draft_baseline, prune_baseline
from conformance.baseline.entries import Baseline
from conformance.core.errors import UsageError
from conformance.judging.group_id import group_id
from conformance.judging.result import Report
from conformance.report import render
from tests.baseline.runs import OTHER, RULE, SIDES, TODAY, applied, entry, finding, stream


def test_a_draft_makes_the_run_pass() -> None:
    report = Report((stream(finding(), finding(OTHER, "f2")), stream(file="ogx/tool.sse")))
    change = draft_baseline(report, Baseline("b"), reason="It is known.")
    assert [(each.rule, each.exchange) for each in change.added] == [
        (RULE, "text"),
        (OTHER, "text"),
    ]
    assert apply_baseline(report, change.baseline, today=TODAY).exit_code() == 0


def test_a_draft_can_pin_the_groups() -> None:
    same, other = replace(finding(), message="got 2"), replace(finding(), message="got none")
    streams = (
        stream(same, other),
        stream(replace(same, id="f7", message="got 3"), file="ogx/b.sse"),
    )
    change = draft_baseline(Report(streams), Baseline("b"), reason="It is known.", pin=True)
    groups = {group_id(same), group_id(other)}
    assert sorted(each.exchange for each in change.added) == ["b", "text", "text"]
    assert {each.finding for each in change.added} == groups
    assert apply_baseline(Report(streams), change.baseline, today=TODAY).exit_code() == 0
    # A finding of another group is news, one with other values is not.
    changed = (stream(replace(same, id="f8", message="got 4"), replace(same, message="got it")),)
    report = apply_baseline(Report(changed), change.baseline, today=TODAY)
    assert [each.message for each in report.unexpected] == ["got it"]


def test_a_finding_that_is_pinned_needs_no_entry_for_its_group() -> None:
    report = Report((stream(finding()),))
    pinned = Baseline("b", (entry(finding="f1"),))
    assert draft_baseline(report, pinned, reason="New.", pin=True).added == ()


@pytest.mark.parametrize("reason", ["", "  ", "TODO", "t.b.d."])
def test_a_new_entry_needs_a_reason(reason: str) -> None:
    with pytest.raises(UsageError, match="1 new entry needs a reason"):
        draft_baseline(Report((stream(finding()),)), Baseline("b"), reason=reason)


def test_an_update_keeps_what_holds_and_drops_what_does_not() -> None:
    kept = entry(reason="Because.", until=date(2027, 1, 1))
    gone = entry("tool")
    flaky = entry("rt", flaky="1/3")
    streams = (
        stream(finding(), finding(OTHER, "f2")),
        stream(file="ogx/tool.sse"),
        stream(file="ogx/rt.sse"),
    )
    change = draft_baseline(Report(streams), Baseline("b", (kept, gone, flaky)), reason="New.")
    assert kept in change.baseline.entries
    assert flaky in change.baseline.entries
    assert change.dropped == (gone,)
    assert [each.reason for each in change.added] == ["New."]


def test_recordings_that_cannot_be_distinguished_are_refused() -> None:
    twins = (stream(finding(), file="a/text.sse"), stream(file="b/text.sse"))
    with pytest.raises(UsageError, match="is called 'text', too"):
        draft_baseline(Report(twins), Baseline("b"), reason="New.")


def test_one_step_in_two_apis_is_distinguished_by_the_api() -> None:
    apis = ("openai.chat", "openai.responses")
    streams = [
        stream(finding(), **SIDES, dialect=api, file=f"{api}/think.cassette.jsonl") for api in apis
    ]
    drafted = draft_baseline(
        Report(tuple(streams)), Baseline("b.yaml"), reason="It is known."
    ).baseline
    names = [each.exchange for each in drafted.entries]
    assert names == [f"{api}/think/plain" for api in apis]
    assert applied(streams, *drafted.entries).exit_code() == 0


def test_after_a_repair_one_line_says_what_to_delete() -> None:
    entries = (entry(), entry("gone"), entry(rule=OTHER), entry(exchange="t*"), entry(flaky="1/2"))
    report = applied([stream(finding(OTHER))], *entries)
    assert report.baseline is not None
    assert report.baseline.repaired == (
        *("known.yaml:2:5: a/b/c in ogx-1.5.0 text", "known.yaml:2:5: a/b/c in ogx-1.5.0 t*"),
    )
    [line] = [each for each in render(report, "text").splitlines() if "to delete" in each]
    assert line.endswith("(conformance baseline ... -o known.yaml --prune)")
    assert json.loads(render(report, "json"))["repaired"] == list(report.baseline.repaired)
    pruned = prune_baseline(report, Baseline("known.yaml", entries))
    assert pruned.added == ()
    assert pruned.dropped == (entries[0], entries[3])
    assert pruned.baseline.entries == (entries[1], entries[2], entries[4])


def test_an_update_adds_nothing_that_a_star_expects() -> None:
    before = Baseline("b", (entry(rule="a/*", exchange="*"),))
    change = draft_baseline(Report((stream(finding()), stream(finding(OTHER)))), before)
    assert (change.added, change.dropped) == ((), ())
