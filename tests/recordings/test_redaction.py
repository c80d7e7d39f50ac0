"""A redacted recording names the rules that judge it otherwise than the bytes that came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, Redactor, open_recording, read, redact, write
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook, profile_values
from conformance.profiles.lookup import available, find
from conformance.recordings.check import check_recording, check_trusted
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.recordings.profile_variants import profile_variants
from conformance.recordings.redaction import redact_evidence, touched_rules
from conformance.rules.applies import profile_excludes
from conformance.rules.reads import knobs_read
from conformance.rules.verdicts import Verdict

TAG = "</think>-9x"
KEY = "n0-Shape/at+all-77xY"
RULES = Rulebook.load()
ROOT = Path(__file__).resolve().parents[2]


def chat(text: str, header: str) -> Cassette:
    def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()

    events = [
        event({"role": "assistant", "reasoning_content": "Well."}),
        event({"content": text}),
        event({}, "stop"),
        b"data: [DONE]\n\n",
    ]
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    headers = (("content-type", "text/event-stream"),)
    exchange = Exchange(
        request=Request("POST", "/v1/chat/completions", (("x-own", header),), body),
        response=Response(200, "1.1", headers),
        chunks=tuple(Chunk(each, 1.0) for each in events),
    )
    return Cassette(Header(origin="live", dialect="openai.chat", profile="strict"), (exchange,))


def judge(cassette: Cassette) -> StreamResult:
    recording = InMemory(Path("x"), "cassette", cassette)
    (result,) = check_recording(recording, RULES, CheckChoices())
    return result


def failing(result: StreamResult) -> set[str]:
    return {rule for rule, verdict in result.verdicts.items() if verdict is Verdict.FAIL}


def test_a_rule_that_read_what_was_replaced_is_untestable(tmp_path: Path) -> None:
    evidence = chat(f"So {TAG} it is.", TAG)
    broken = failing(judge(evidence))
    assert broken
    assert not broken & failing(judge(redact_evidence(evidence)))
    clean = redact_evidence(evidence)
    (exchange,) = clean.exchanges
    assert TAG.encode() not in exchange.body
    assert broken <= set(exchange.touched)
    path = tmp_path / "a.cassette.jsonl"
    write(path, clean)
    assert read(path).exchanges[0].touched == exchange.touched
    (result,) = check_recording(open_recording(path), RULES, CheckChoices())
    for rule in exchange.touched:
        assert result.verdicts[rule] is Verdict.UNTESTABLE
        assert result.reasons[rule] == "redaction replaced what the rule reads"
    changed = {change.by for change in result.changes if change.rule in broken}
    assert changed == {"redaction", "claims"}
    assert not {found.rule for found in result.findings} & set(exchange.touched)


def test_a_key_in_a_text_touches_no_rule() -> None:
    evidence = chat(f"Your key is {KEY}.", KEY)
    clean = redact_evidence(evidence)
    assert KEY.encode() not in clean.exchanges[0].body
    assert clean.exchanges[0].touched == ()
    assert judge(clean).verdicts == judge(evidence).verdicts


def test_redacting_again_forgets_no_touched_rule() -> None:
    once = redact_evidence(chat(f"So {TAG} it is.", TAG))
    assert redact_evidence(once) == once


def test_of_a_long_answer_every_rule_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.recordings.redaction._LONGEST", 10)
    clean = redact_evidence(chat(f"Your key is {KEY}.", KEY))
    assert clean.exchanges[0].touched == ("*",)
    assert set(judge(clean).verdicts.values()) == {Verdict.UNTESTABLE}


def test_a_head_that_lost_values_is_not_judged_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.recordings.redaction.touched_rules", pytest.fail)
    assert KEY not in str(redact_evidence(chat("Fine.", KEY), Redactor()))


def test_a_rule_that_read_opaque_data_is_untestable() -> None:
    path = ROOT / "cassettes" / "mutants" / "wire" / "agui" / "sealed-unreadable.cassette.jsonl"
    clean = redact_evidence(read(path))
    assert clean.exchanges[0].touched == ("wire/agui/sealed-unreadable",)


def test_what_is_touched_does_not_hang_on_the_profile() -> None:
    evidence = chat("Fine.", "reasoning_content-9Zk3vX7Lr")
    clean = redact_evidence(evidence)
    (exchange,) = clean.exchanges
    for profile in [name for name, dialect, _ in available() if dialect == "openai.chat"][::4]:
        came, kept = (
            check_trusted(
                InMemory(Path("x"), "cassette", each), RULES, CheckChoices(profile=profile)
            )[0].verdicts
            for each in (evidence, replace(clean, exchanges=(replace(exchange, touched=()),)))
        )
        differ = {rule for rule in came.keys() | kept.keys() if came.get(rule) != kept.get(rule)}
        assert differ <= set(exchange.touched), profile


@pytest.mark.parametrize("dialect", ["anthropic.messages", "openai.responses"])
def test_every_answer_of_a_profile_that_ships_is_asked(dialect: str) -> None:
    rules = [rule for rule in RULES.rules if rule.judges(dialect) and knobs_read(rule)]
    variants = profile_variants(rules, dialect, {"strict"})
    shipped = {name for name, of, _ in available() if of == dialect}
    assert "strict" not in variants
    assert set(variants) < shipped

    def answers(names: set[str]) -> set[tuple[str, str]]:
        found = [profile_values(find(name, dialect)) for name in names]
        return {
            (rule.id, str([values.get(knob) for knob in sorted(knobs_read(rule))]))
            for values in found
            for rule in rules
            if not profile_excludes(rule, values)
        }

    assert answers({"strict", *variants}) == answers(shipped)


def test_slow_recording_is_assumed_to_be_worst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evidence = chat("Fine.", "reasoning_content-9Zk3vX7Lr")
    asked = set(redact_evidence(evidence).exchanges[0].touched)
    size = len(evidence.exchanges[0].body)
    monkeypatch.setattr("conformance.recordings.redaction._LONGEST", 2 * size)
    assert asked < set(redact_evidence(evidence).exchanges[0].touched)


def test_equal_recordings_have_no_touched_rule() -> None:
    evidence = chat("Fine.", "short")
    assert touched_rules(evidence, evidence) == {}


OWN_RULE = """
suite: own
title: Own
dialect: openai.chat
events:
  text: {type: text.delta}
rules:
  - id: key-told
    level: MUST
    says: The key is told.
    source: {advice: "a test"}
    since: 0.1.0
    FORM
"""
OWN_FORMS = (
    'each: {of: text, schema: {properties: {text: {pattern: "all-77xY"}}}}',
    'fold: {over: {text: text}, with: concat, matches: "all-77xY"}',
)


@pytest.mark.parametrize("form", OWN_FORMS)
def test_a_rule_that_redaction_breaks_is_untestable(tmp_path: Path, form: str) -> None:
    suite = tmp_path / "own.yaml"
    suite.write_text(OWN_RULE.replace("FORM", form), encoding="utf-8")
    rulebook = Rulebook.load([str(suite)])
    (clean,) = redact_evidence(chat(f"Your key is {KEY}.", KEY), rulebook=rulebook).exchanges
    assert clean.touched == ("own/key-told",)
    for text, verdict in ((KEY, Verdict.UNTESTABLE), ("a-word-of-no-meaning-77", Verdict.FAIL)):
        stated = chat(f"Your key is {text}.", KEY)
        (exchange,) = (redact(stated) if text == KEY else stated).exchanges
        cassette = replace(stated, exchanges=(replace(exchange, touched=clean.touched),))
        recording = InMemory(Path("x"), "cassette", cassette)
        (result,) = check_recording(recording, rulebook, CheckChoices())
        assert result.verdicts["own/key-told"] is verdict
        assert any(each.rule == "own/key-told" for each in result.changes)
