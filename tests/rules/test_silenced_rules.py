"""Rules that are silent from the first event on: only those that would be refused at the end."""

from __future__ import annotations

from functools import cache

import pytest

from conformance.cassette import open_recording
from conformance.core.events import Exchange, Request, Response
from conformance.core.reading import Reading
from conformance.core.shipped import cassettes
from conformance.core.trace import trace_exchange
from conformance.dialects import SUPPORTED, get
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import find
from conformance.rules.applies import Evidence
from conformance.rules.compiled import CompiledRule
from conformance.rules.forms.compare import Compare
from conformance.rules.rule_set import RuleSet

KNOWN: dict[str, tuple[Request | None, Response | None]] = {
    "nothing": (None, None),
    "a request without a body": (Request("POST", "/v1/x"), Response(200)),
    "a request": (Request("POST", "/v1/x", json={"stream": True}), Response(200)),
    "the head of a response": (None, Response(200)),
}


@cache
def rules_of(dialect: str) -> RuleSet:
    return Rulebook.load().bound(find("strict", dialect)).rules


def silenced(rules: RuleSet, evidence: Evidence) -> list[CompiledRule]:
    return [rules.rules[number] for number in sorted(rules.silenced(evidence))]


@pytest.mark.parametrize("recorded", KNOWN)
@pytest.mark.parametrize("dialect", sorted(SUPPORTED))
def test_what_is_silenced_is_refused_at_the_end(dialect: str, recorded: str) -> None:
    request, response = KNOWN[recorded]
    evidence = Evidence(request, response, echoes=get(dialect).echoes)
    for rule in silenced(rules_of(dialect), evidence):
        if rule.excluded is None and not isinstance(rule.rule.form, Compare):
            assert rule.terms.refuses(evidence) is not None, rule.rule.id


def test_rules_about_a_request_wait_only_for_an_answer_that_may_repeat_it() -> None:
    rules = rules_of("openai.responses")
    may_be_echoed = silenced(rules, Evidence(echoes=True))
    never_known = silenced(rules, Evidence(echoes=False))
    spared = {rule.rule.id for rule in never_known} - {rule.rule.id for rule in may_be_echoed}
    assert "effort/responses/none-means-none" in spared


@pytest.mark.parametrize("dialect", sorted(SUPPORTED))
def test_only_dialects_that_say_so_repeat_parameters_of_a_request(dialect: str) -> None:
    paths = (cassettes() / dialect).rglob("*.cassette.jsonl")
    exchanges = [each for path in paths for each in open_recording(path).exchanges]
    assert exchanges
    assert any(_has_echo(dialect, each) for each in exchanges) is get(dialect).echoes


def _has_echo(dialect: str, exchange: Exchange) -> bool:
    reader = get(dialect).reader(Reading())
    frames = trace_exchange(exchange, reader)
    return any(reader.echo(each.answer) is not None for frame in frames for each in frame.events)
