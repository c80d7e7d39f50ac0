"""What a verdict gives as its reason is true of the events: drawn from recordings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.core import shipped
from conformance.core.events import Ending, Event
from conformance.judging.checker import Checker
from conformance.judging.view import ExchangeView
from conformance.recordings.check import check_paths
from conformance.rules.applies import Evidence
from conformance.rules.compiled import CompiledRule, NamedEvent, Outcome, Outcomes
from conformance.rules.judge import Judge
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import NO_REQUEST, compile_value
from conformance.rules.verdicts import Verdict
from tests.sampled import of_every_folder

NONE: Final = "never fired: no "
LACKS: Final = "not placed: what came lacks "
NOT_BOTH: Final = "never fired: not both "
FEWER: Final = "never fired: fewer than two values of "
UNASKED: Final = "the request was not recorded"
FRAMING: Final = " the framing of this API"


class Reasoned:
    """One exchange with all of its events, to hold a reason of a rule against."""

    def __init__(self, rule: CompiledRule, events: list[Event], judge: Judge) -> None:
        named = chain(rule.names, (each.names[0] for each in rule.subject))
        self.named = [each for each in named if not each.name.startswith("candidate of ")]
        self.rule, self.events, self.judge = rule, events, judge

    def came(self, described: str) -> bool:
        """Whether an event came that is so described."""
        found = [each for each in self.named if each.alias.describe() == described]
        return any(self._holds(each, event) for each in found for event in self.events)

    def _holds(self, named: NamedEvent, event: Event) -> bool:
        context, data = self.judge.context, event.data
        is_of_it = event.layer == named.alias.layer and named.is_type(event.type, context)
        return is_of_it and all(c.test(c.get(data), data, context) for c in named.conditions)

    def has_lacking(self, paths: list[str]) -> bool:
        """Whether an event of the rule came without one of these fields."""
        mine = (e for e in self.events if any(self._holds(each, e) for each in self.named))
        return any(getter(path)(e.data) in (MISSING, None) for e in mine for path in paths)

    def is_true(self, outcome: Outcome) -> bool:
        """What can be said of a reason by looking at the events alone; True of all others."""
        reason, evidence = outcome.reason, self.judge.evidence
        if reason.startswith(LACKS):
            return self.has_lacking(reason.removeprefix(LACKS).split(" or "))
        if reason.startswith("the request's "):
            return evidence.request is not None and not self._asks_so(reason)
        if reason.startswith("the answer's own "):
            return evidence.echo() is not None
        if reason.startswith(FEWER):
            return bool(self.rule.slice) or self._count(reason.removeprefix(FEWER)) < 2
        if reason == "no binary messages came":
            return not self._came_as("binary.")
        if reason.endswith(FRAMING):
            return evidence.own_framing != "sse" and not self._came_as("sse.frame")
        return _is_so(reason, evidence) and not any(self._denied(reason))

    def _came_as(self, prefix: str) -> bool:
        return any(event.type.startswith(prefix) for event in self.events)

    def _asks_so(self, reason: str) -> bool:
        """Whether the request is as the rule wants it, where the pattern is no knob."""
        path = reason.removeprefix("the request's ").removesuffix(" rules it out")
        applies = self.rule.rule.applies.request
        wanted = next((pattern for name, pattern in applies if name == path), None)
        if wanted is None or "$" in str(wanted):
            return False
        value = self.judge.evidence.requested(path)
        return compile_value(wanted, {})(value, {}, NO_REQUEST)

    def _count(self, described: str) -> int:
        """How many events came that hold such a value: `PATH in EVENT / EVENT`."""
        path, _, kinds = described.partition(" in ")
        mine = [each for each in self.named if each.alias.describe() in kinds.split(" / ")]
        came = (e for e in self.events if any(self._holds(each, e) for each in mine))
        return sum(getter(path)(event.data) not in (MISSING, None) for event in came)

    def _denied(self, reason: str) -> Iterator[bool]:
        """Whether what a reason denies came all the same."""
        if reason.startswith(NONE):
            denied = reason.removeprefix(NONE)
            if not denied.endswith((" with what is judged", " with a time to measure from")):
                denied = denied.removesuffix(", and nothing that might have been")
                yield from map(self.came, denied.split(" / "))
        elif reason.startswith(NOT_BOTH) and " and, before it, " not in reason:
            sides = reason.removeprefix(NOT_BOTH).split(" and ", 1)
            if not self.rule.slice:
                yield all(any(map(self.came, side.split(" / "))) for side in sides)


def _is_so(reason: str, evidence: Evidence) -> bool:
    """Whether what a reason says was not recorded was not, and what came is what it says."""
    if reason.startswith(UNASKED):
        path = reason.removeprefix(UNASKED).strip(" ()").removeprefix("request.")
        body = evidence.request and evidence.request.json
        return evidence.requested(path) is MISSING if path else not isinstance(body, Mapping)
    held = {
        "the response head was not recorded": evidence.answered() is None,
        "no clock was recorded": not evidence.clock,
        "lines came, not server-sent events": evidence.framing() == "lines",
        "an array was asked for, or came": "array" in (evidence.own_framing, evidence.framing()),
    }
    return held.get(reason, True)


class ReasonJudge(Judge):
    """Judges as ever, and holds every reason against the events."""

    untrue: Final[list[tuple[str, str]]] = []
    kinds: Final[Counter[str]] = Counter()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.kept: list[Event] = []

    def read(self, event: Event) -> None:
        self.kept.append(event)
        super().read(event)

    def close(self, how: Ending) -> Outcomes:
        return self._held(super().close(how))

    def end_answer(self, number: int) -> Outcomes:
        outcomes = self._held(super().end_answer(number))
        self.kept.clear()  # the reasons of the next answer are of its own events
        return outcomes

    def _held(self, outcomes: Outcomes) -> Outcomes:
        for rule, outcome in zip(self.rules.rules, outcomes, strict=True):
            if outcome.verdict in (Verdict.PASS, Verdict.FAIL) or rule.excluded is not None:
                continue
            self.kinds[" ".join(outcome.reason.split()[:3])] += 1
            if not Reasoned(rule, self.kept, self).is_true(outcome):
                self.untrue.append((rule.rule.id, outcome.reason))
        return outcomes


def check_reasons(monkeypatch: pytest.MonkeyPatch, paths: list[Path]) -> None:
    monkeypatch.setattr(ExchangeView, "judge_type", ReasonJudge)
    ReasonJudge.untrue.clear()
    ReasonJudge.kinds.clear()
    assert check_paths(paths).streams
    assert Counter(ReasonJudge.untrue) == {}


@pytest.mark.every_run
def test_reasons_are_true_of_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    unplaced = shipped.cassettes() / "mutants/wire/chat/tool-index-known.cassette.jsonl"
    check_reasons(monkeypatch, [unplaced, *of_every_folder()])
    kinds = {
        *("never fired: no", "never fired: not", "never fired: fewer", "not placed: what"),
        *("no binary messages", "no clock was", "the request was", "an array was"),
        *("lines are the", "raw text is", "binary messages are", "the request's stream"),
    }
    assert kinds <= ReasonJudge.kinds.keys()


@pytest.mark.slow
def test_reasons_of_other_streams_are_true(monkeypatch: pytest.MonkeyPatch) -> None:
    check_reasons(monkeypatch, of_every_folder(1))


def test_a_body_alone_is_ruled_out_by_what_it_says_itself(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    usage = '"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}'
    path.write_text(
        '{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],'
        f'"reasoning":{{"effort":"low"}},{usage}}}',
        encoding="utf-8",
    )
    (stream,) = check_paths([path], dialect="openai.responses").streams
    reason = stream.reasons["effort/responses/none-means-none"]
    assert reason == "the answer's own reasoning.effort rules it out"


def test_a_stream_with_a_wrong_label_is_read_as_the_stream_it_is(tmp_path: Path) -> None:
    source = shipped.cassettes() / "openai.chat/deepseek/thinking-then-text.cassette.jsonl"
    path = tmp_path / "wrong-label.cassette.jsonl"
    text = source.read_text(encoding="utf-8").replace("text/event-stream", "application/json")
    path.write_text(text, encoding="utf-8")
    found = {finding.rule for finding in check_paths([path]).findings}
    assert found == {"wire/sse/content-type"}


def test_what_does_not_say_where_it_belongs_is_not_called_missing() -> None:
    events = [
        {"type": "response.output_text.delta", "delta": "Two."},
        {"type": "response.output_text.done", "text": "Three."},
    ]
    body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    result = Checker("openai.responses").check([body.encode()])
    for rule in ("text-agrees", "text-part-lifecycle"):
        name = f"wire/responses-parts/{rule}"
        assert result.verdicts[name] is Verdict.INCONCLUSIVE
        assert result.reasons[name] == f"{LACKS}output_index or content_index"
