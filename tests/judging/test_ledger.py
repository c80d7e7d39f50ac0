"""The ledger: who changes a verdict leaves a name, and comes in the stated order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

import conformance
from conformance.cassette import Cassette, Header
from conformance.core.errors import HarnessError
from conformance.core.events import Chunk, Exchange, Response
from conformance.evidence import writing
from conformance.judging.ledger import WRITERS, Ledger
from conformance.judging.result import Finding, StreamResult, VerdictChange
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.rules.verdicts import Level, Verdict
from tests.fuzz.both import difference, fast, setting_for, slow
from tests.fuzz.dialogues import Piece


def finding(rule: str, event: int = 1, level: Level = Level.MUST) -> Finding:
    return Finding(
        rule=rule,
        level=level,
        verdict=Verdict.FAIL,
        event=event,
        line=None,
        byte=None,
        slice={},
        expected=(),
        got="",
        after="",
        message="",
        says="",
        hint="",
        context=(),
        source=(),
        id="0",
    )


def opened(*findings: Finding, **verdicts: Verdict) -> Ledger:
    given = {**verdicts, **{each.rule: Verdict.FAIL for each in findings}}
    return Ledger(StreamResult("f", 1, "openai.chat", "strict", True, given, findings))


def test_a_rule_that_is_withdrawn_loses_its_findings_and_says_what_it_was() -> None:
    ledger = opened(finding("a"), finding("b"), c=Verdict.PASS)
    ledger.withdraw(["a", "c"], "it is no stream", "http status")
    result = ledger.result()
    assert result.verdicts == {
        "a": Verdict.NOT_APPLICABLE,
        "b": Verdict.FAIL,
        "c": Verdict.NOT_APPLICABLE,
    }
    assert [each.rule for each in result.findings] == ["b"]
    assert result.reasons == {"a": "it is no stream", "c": "it is no stream"}
    assert result.changes == (
        VerdictChange("a", Verdict.FAIL, Verdict.NOT_APPLICABLE, "http status", "it is no stream"),
        VerdictChange("c", Verdict.PASS, Verdict.NOT_APPLICABLE, "http status", "it is no stream"),
    )


def test_a_rule_that_is_added_stands_with_its_findings_in_their_order() -> None:
    ledger = opened(finding("b", 5))
    ledger.add("c", Verdict.UNTESTABLE, "busy", by="expectations")
    ledger.add("a", Verdict.FAIL, findings=[finding("a", 2)], by="hops")
    ledger.add("c", Verdict.PASS, by="hops")
    result = ledger.result()
    assert [each.rule for each in result.findings] == ["a", "b"]
    assert result.reasons == {}
    assert [(each.rule, each.was, each.by) for each in result.changes] == [
        ("c", None, "expectations"),
        ("a", None, "hops"),
        ("c", Verdict.UNTESTABLE, "hops"),
    ]


def test_a_remark_keeps_the_verdict_and_may_change_how_it_binds() -> None:
    ledger = opened(finding("a"), finding("b"))
    ledger.remark("a", "SHOULD, it is known", "profile", Level.SHOULD)
    result = ledger.result()
    assert [(each.rule, each.level) for each in result.findings] == [("a", "SHOULD"), ("b", "MUST")]
    assert result.changes == (
        VerdictChange("a", Verdict.FAIL, Verdict.FAIL, "profile", "SHOULD, it is known"),
    )


@pytest.mark.parametrize("last", sorted(set(WRITERS)))
def test_who_comes_too_late_is_refused(last: str) -> None:
    ledger = opened(a=Verdict.PASS)
    ledger.withdraw(["a"], "why", last)
    at = WRITERS.index(last)
    for name in set(WRITERS[:at]) - set(WRITERS[at:]):
        with pytest.raises(HarnessError, match=f"nothing from '{name}'"):
            ledger.withdraw(["a"], "why", name)


def test_a_ledger_that_is_opened_again_goes_on_where_it_was() -> None:
    ledger = opened(a=Verdict.PASS)
    ledger.withdraw(["a"], "why", "randomness", Verdict.UNTESTABLE)
    again = Ledger(ledger.result())
    assert again.result() == ledger.result()
    with pytest.raises(HarnessError, match="'hops' after 'randomness'"):
        again.add("b", Verdict.PASS, by="hops")


def test_changes_of_several_judgements_may_stand_in_one_result() -> None:
    changes = tuple(
        VerdictChange(rule, None, Verdict.PASS, by)
        for rule, by in (("a", "sent bytes"), ("b", "undeclared"))
    )
    ledger = Ledger(replace(opened(finding("a")).result(), changes=changes))
    ledger.remark("a", "known", "baseline")
    assert [each.by for each in ledger.changes] == ["sent bytes", "undeclared", "baseline"]


def test_nobody_writes_without_a_name() -> None:
    with pytest.raises(HarnessError, match="nothing from 'me'"):
        opened(a=Verdict.PASS).withdraw(["a"], "why", "me")


def test_what_is_taken_from_a_ledger_no_longer_changes() -> None:
    ledger = opened(a=Verdict.PASS)
    before = ledger.result()
    ledger.withdraw(["a"], "why", "hops")
    assert before.verdicts == {"a": Verdict.PASS}
    assert before == replace(ledger.result(), verdicts=before.verdicts, reasons={}, changes=())


def test_the_order_is_written_down_where_the_writers_are() -> None:
    """Every name of the order is somebody's, and everybody's name stands in the order."""
    package = Path(conformance.__file__).parent
    used = set()
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "judging.ledger import" in text:
            used |= {name for name in WRITERS if re.search(rf'[( =]"{name}"', text)}
    assert used == set(WRITERS)
    assert all(f"`{name}`" in (writing.__doc__ or "") for name in WRITERS if name != "baseline")


def test_what_is_shared_is_copied_before_it_is_written_to() -> None:
    verdicts = {"a": Verdict.PASS, "b": Verdict.PASS}
    ledger = Ledger(StreamResult("f", 1, "openai.chat", "strict", True, verdicts, ()))
    assert ledger.result().verdicts is verdicts
    ledger.withdraw(["a"], "so", "profile")
    first = ledger.result()
    ledger.withdraw(["b"], "so", "baseline")
    assert verdicts == {"a": Verdict.PASS, "b": Verdict.PASS}
    assert dict(first.verdicts) == {"a": Verdict.NOT_APPLICABLE, "b": Verdict.PASS}
    assert dict(first.reasons) == {"a": "so"}


def test_exchanges_that_come_to_the_same_share_what_they_came_to() -> None:
    exchange = Exchange(response=Response(200, headers=(("content-type", "text/event-stream"),)))
    exchanges = tuple(replace(exchange, number=number) for number in range(1, 40))
    cassette = Cassette(Header(dialect="openai.chat", profile="strict"), exchanges)
    recording = InMemory(Path("x"), "cassette", cassette)
    results = check_recording(recording, Rulebook.load(), CheckChoices())
    assert len(results) == len(exchanges)
    assert len({id(each.verdicts) for each in results}) <= 3
    assert len({id(each.reasons) for each in results}) <= 3


# Two slices of one rule are broken by the end; other rules opened them the other way round.
TWO_AT_ONCE: Final = (
    '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signa'
    'ture":"c3ludGhldGljLCBub3RoaW5nIGlzIGVuY3J5cHRlZCBoZXJlOiBzaWduYXR1cmUg"}}\n'
    '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":'
    '"toolu_2","name":"get_tide","input":{},"caller":{"type":"direct"}}}\n'
    '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thin'
    'king":"","signature":""}}\n'
    '{"type":"content_block_delta","index":null,"delta":{"type":"text_delta","text":"'
    ' so"}}\n'
)


def test_what_one_event_breaks_in_several_slices_stands_in_their_order() -> None:
    data = b"".join(
        Piece(text, json.loads(text)["type"]).encode() for text in TWO_AT_ONCE.splitlines()
    )
    setting = setting_for("anthropic.messages", "strict", Rulebook.load())
    assert not difference(slow(setting, [Chunk(data)]), fast(setting, [Chunk(data)]))
