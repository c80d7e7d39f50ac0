"""Whether an application sends its model the turn before as it was, over two turns and a tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.rules.verdicts import Verdict
from tests.fakes.application import Application, Part
from tests.plain_results import violated
from tests.runs.test_run_application import ran

Turns = list[Part]


class Rewriting(Application):
    """The sample application, with a history that is rewritten before the model gets it."""

    rewrite: Callable[[Turns], Turns]

    async def _model_events(self, history: Turns) -> AsyncIterator[Part]:
        turns = self.rewrite(json.loads(json.dumps(history)))
        async for event in super()._model_events(turns):
            yield event


def blocks(turns: Turns, kind: str) -> list[Any]:
    answers = (turn["content"] for turn in turns if turn["role"] == "assistant")
    return [block for content in answers for block in content if block["type"] == kind]


def other_arguments(turns: Turns) -> Turns:
    for call in blocks(turns, "tool_use"):
        call["input"] = {"expression": "1 + 1"}
    return turns


def cut_text(turns: Turns) -> Turns:
    for text in blocks(turns, "text"):
        text["text"] = text["text"][:4]
    return turns


def spoken_thinking(turns: Turns) -> Turns:
    for thought in blocks(turns, "thinking"):
        spoken = thought.pop("thinking")
        thought.clear()
        thought.update(type="text", text=spoken)
    return turns


def last_turn(turns: Turns) -> Turns:
    return turns[-1:]


def without_calls(turns: Turns) -> Turns:
    """As if nothing had been called: the calls are gone, and their results with them."""
    kinds = ("tool_use", "tool_result")
    for turn in turns:
        if isinstance(turn["content"], list):
            turn["content"] = [each for each in turn["content"] if each["type"] not in kinds]
    return [turn for turn in turns if turn["content"]]


def answers_twice(turns: Turns) -> Turns:
    for turn in turns:
        if turn["role"] == "assistant":
            turn["content"] += [each for each in turn["content"] if each["type"] == "text"]
    return turns


@pytest.mark.parametrize(
    ("scenario", "rewrite", "message"),
    [
        ("app-tools", without_calls, "to go back to the model, got it nowhere"),
        ("app-answer", answers_twice, "once in the next request, got it more than once"),
        ("app-tools", other_arguments, "expected calculator("),
        ("app-answer", cut_text, "expected the answer before"),
        ("app-answer", last_turn, "expected the answer before"),
        ("app-answer", spoken_thinking, "got its thinking in it"),
    ],
)
def test_a_rewritten_history_is_found(
    scenario: str, rewrite: Callable[[Turns], Turns], message: str, tmp_path: Path
) -> None:
    application = Rewriting()
    application.rewrite = rewrite
    report = ran(application, tmp_path, scenarios=(scenario,)).report
    assert "hop/talk-kept" in violated(report)
    assert any(f.rule == "hop/talk-kept" and message in f.message for f in report.findings)
    assert not any(rule.startswith("history/returned/") for rule in violated(report))


@pytest.mark.parametrize("scenario", ["app-tools", "app-answer"])
def test_a_history_that_is_kept_is_right(scenario: str, tmp_path: Path) -> None:
    report = ran(Application(), tmp_path, scenarios=(scenario,)).report
    assert violated(report) == set()
    assert report.verdicts["hop/talk-kept"] is Verdict.PASS
