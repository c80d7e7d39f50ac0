"""Switches of providers that turn thinking off: judged where one is in the request, else not."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from conformance import Checker
from conformance.rules.verdicts import Verdict

RULE: Final = "effort/chat/turned-off"
HEAD: Final[dict[str, Any]] = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
}
THOUGHT: Final = {"role": "assistant", "reasoning_content": "Hm."}
TEXT: Final = {"role": "assistant", "content": "Four."}
SWITCHES: Final[list[dict[str, Any]]] = [
    {"think": False},
    {"enable_thinking": False},
    {"chat_template_kwargs": {"thinking": False}},
    {"thinking": {"type": "disabled"}},
    {"reasoning": {"enabled": False}},
    {"reasoning": {"effort": "none"}},
]


def verdict(switch: dict[str, Any], *deltas: dict[str, Any]) -> Verdict:
    ends = [*((delta, None) for delta in deltas), ({}, "stop")]
    choices = [{"index": 0, "delta": delta, "finish_reason": end} for delta, end in ends]
    lines = [f"data: {json.dumps({**HEAD, 'choices': [choice]})}\n\n" for choice in choices]
    body = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return Checker("openai.chat").check([body], request={"model": "m", **switch}).verdicts[RULE]


@pytest.mark.parametrize("switch", SWITCHES)
def test_thinking_that_is_turned_off_is_found(switch: dict[str, Any]) -> None:
    assert verdict(switch, THOUGHT, TEXT) is Verdict.FAIL
    assert verdict(switch, TEXT) is Verdict.PASS


def test_without_a_switch_nothing_is_judged() -> None:
    assert verdict({}, THOUGHT, TEXT) is Verdict.VACUOUS
    assert verdict({"think": True}, THOUGHT, TEXT) is Verdict.VACUOUS
    effort = {"reasoning": {"effort": "none"}, "model": "gpt-oss-120b"}
    assert verdict(effort, THOUGHT, TEXT) is Verdict.VACUOUS
