"""No event makes a monitor raise: shipped rules and the rules of the vectors, any JSON."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import open_recording
from conformance.core.events import Ending, Event, Exchange, Layer, Request, Response
from conformance.core.reading import Reading
from conformance.core.shipped import cassettes
from conformance.core.trace import trace_exchange
from conformance.dialects import SUPPORTED, get
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import find
from conformance.rules import document
from conformance.rules.alias import Alias
from conformance.rules.applies import Evidence
from conformance.rules.compiled import CompiledRule
from conformance.rules.forms.compare import Compare
from conformance.rules.judge import Judge
from conformance.rules.model import Rule
from conformance.rules.rule_set import RuleSet
from conformance.rules.verdicts import Verdict

FOLDER: Final = Path(__file__).parent.parent / "vectors" / "rules"
ENDINGS: Final[tuple[Ending, ...]] = ("eof", "reset", "open")
KEYS: Final = ("type", "id", "index", "text", "item", "delta", "choices", "response", "output", "t")

TEXTS: Final = ("", "x", "<think>", "</think>", '{"a":', "reasoning", "completed")
LEAVES: Final = (*TEXTS, None, True, False, 0, 1, -1, 1.5, 1e300, 10**30)
leaves = st.sampled_from(LEAVES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.recursive(
    leaves,
    lambda t: st.lists(t, max_size=3) | st.dictionaries(st.sampled_from(KEYS), t, max_size=4),
    max_leaves=8,
)


@cache
def shipped(dialect: str) -> RuleSet:
    """Every shipped rule for a dialect's strictest profile."""
    return Rulebook.load().bound(find("strict", dialect)).rules


def aliases(rules: Iterable[Rule]) -> list[Alias]:
    return [alias for rule in rules for alias in rule.aliases.values()]


@cache
def likely(dialect: str) -> tuple[list[tuple[Layer, str]], list[str]]:
    """Types and paths that the rules look at."""
    named = aliases(each.rule for each in shipped(dialect).rules)
    kinds = {(alias.layer or "wire", kind) for alias in named for kind in alias.types}
    paths = {path for alias in named for path, _ in alias.conditions}
    paths |= {path for each in shipped(dialect).rules for path in each.rule.slice}
    return sorted(kinds), sorted(paths)


def placed(data: dict[str, Any], path: str, value: Any) -> None:
    """Puts a value at a dotted path, through whatever stands in the way."""
    *above, last = path.split(".")
    for segment in above:
        inner = data.get(segment)
        data[segment] = data = dict(inner) if isinstance(inner, dict) else {}
    data[last] = value


def any_value(source: Random, depth: int = 3) -> Any:
    """A value as those of `values`; made without Hypothesis, which takes most of the time."""
    kind = source.random()
    if depth and kind < 0.15:
        return [any_value(source, depth - 1) for _ in range(source.randint(0, 3))]
    if depth and kind < 0.3:
        return any_fields(source, depth - 1)
    return source.choice(LEAVES) if kind < 0.95 else chr(source.randint(0, 0xD7FF))


def any_fields(source: Random, depth: int = 3) -> dict[str, Any]:
    return {source.choice(KEYS): any_value(source, depth) for _ in range(source.randint(0, 4))}


def any_event(source: Random, dialect: str) -> Event:
    kinds, paths = likely(dialect)
    layer, kind = source.choice(kinds)
    data = any_fields(source)
    for path in source.choices(paths, k=source.randint(0, 4)):
        placed(data, path, any_value(source))
    return Event(kind, data, 0, layer)


@pytest.mark.one_in(18)
@pytest.mark.parametrize("dialect", sorted(SUPPORTED))
@settings(deadline=None, max_examples=80)
@given(seed=st.integers(0, 2**32))
def test_shipped_rules_survive_any_events(dialect: str, seed: int) -> None:
    source = Random(seed)
    judge = Judge(shipped(dialect), Evidence(clock=True))
    number = 1
    for _ in range(source.randint(0, 12)):
        judge.ms = float(number)
        event = any_event(source, dialect)
        judge.read(Event(event.type, event.data, number, event.layer))
        if source.random() < 0.5:
            judge.settle()
            number += 1
    outcomes = judge.close(source.choice(ENDINGS))
    assert [o.reason for o in outcomes if o.verdict is Verdict.ERROR] == []


def vector_rules() -> dict[str, dict[str, Any]]:
    vectors = [
        v for f in sorted(FOLDER.glob("*.yaml")) for v in document.load(f).plain()["vectors"]
    ]
    plain = (v["rule"] for v in vectors if "rule" in v and not {"knobs", "events"} & v.keys())
    return {f"r{number}": rule for number, rule in enumerate(plain)}


fields = st.dictionaries(
    st.sampled_from(["t", "v", "i", "j", "n", "item", "text", "output", "u", "value"]),
    values,
    max_size=5,
)
rows = st.lists(st.tuples(st.sampled_from("abcde"), fields), max_size=10)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(rows, st.sampled_from(ENDINGS))
def test_rules_of_the_vectors_survive_any_events(
    run_rules: Any, pairs: list[tuple[str, dict[str, Any]]], end: Ending
) -> None:
    stream = [(n, "wire", kind, data, n) for n, (kind, data) in enumerate(pairs, 1)]
    outcomes = run_rules(vector_rules(), stream, {"end": end, "clock": True})
    assert [o.reason for o in outcomes if o.verdict is Verdict.ERROR] == []
    # One finding per rule and slice, and none without FAIL.
    for outcome in outcomes:
        keys = [repr(sorted(v.slice.items())) for v in outcome.violations]
        assert len(set(keys)) == len(keys)
        assert bool(keys) == (outcome.verdict is Verdict.FAIL)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"k": [value]}
    return value


def test_values_too_deep_to_compare_are_an_error_of_one_rule_alone(run_rules: Any) -> None:
    names = {"hit": {"type": "a", "v": {"not": {"field": "w"}}}}
    rows = [(1, "wire", "a", {"v": nested(450), "w": nested(450)}), (2, "wire", "b")]
    rules = {"deep": {"never": "hit"}, "shallow": {"never": "b"}}
    deep, shallow = run_rules(rules, rows, events=names)
    assert (deep.verdict, shallow.verdict) == (Verdict.ERROR, Verdict.FAIL)
    assert deep.reason.startswith("internal: RecursionError")


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
