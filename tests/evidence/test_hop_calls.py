"""Inputs of tools that an interface shows and runs, beside those that the model wrote."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.evidence.two_hops import Payload, broken_hops, chat, judged_hops, vercel

RULE: Final = "hop/tools"
SAID: Final = {"city": "Turin", "days": 3, "stay": {"beds": 2}}
SCHEMA: Final = {"type": "object", "properties": {key: {"type": "string"} for key in SAID}}
OFFERED: Final = {
    "messages": [],
    "tools": [{"type": "function", "function": {"name": "book", "parameters": SCHEMA}}],
}


def _call_chunks(arguments: Any) -> tuple[str, str]:
    function = {"name": "book", "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    return chat({"tool_calls": [call]}, reason="tool_calls")


def _shown(written: Any, runs: Any) -> tuple[str, str]:
    call = {"toolCallId": "c", "toolName": "book"}
    return vercel(
        {"type": "tool-input-start", **call},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": json.dumps(written)},
        {"type": "tool-input-available", **call, "input": runs},
    )


ALTERED: Final = {
    "another number": {**SAID, "days": 4},
    "another text": {**SAID, "city": "Milan"},
    "deep inside": {**SAID, "stay": {"beds": 1}},
    "a key that is lost": {"city": "Turin", "stay": {"beds": 2}},
    "all of it lost": {},
    "another key": {"town": "Turin", "days": 3, "stay": {"beds": 2}},
}
KEPT: Final = {
    "the same": SAID,
    "another order": dict(reversed(SAID.items())),
    "a default of the tool": {**SAID, "unit": "C"},
    "another type": {**SAID, "days": "3"},
}


@pytest.mark.parametrize("case", ALTERED)
def test_the_input_that_runs_is_the_one_that_the_model_wrote(case: str) -> None:
    assert broken_hops(judged_hops(_shown(SAID, ALTERED[case]), _call_chunks(SAID))) == {RULE}


@pytest.mark.parametrize("case", KEPT)
def test_what_a_schema_makes_of_an_input_is_no_other_input(case: str) -> None:
    assert broken_hops(judged_hops(_shown(SAID, KEPT[case]), _call_chunks(SAID))) == set()


def test_what_no_schema_has_may_be_left_out() -> None:
    arguments = {**SAID, "mood": "glad"}
    shown = _shown(arguments, SAID)
    assert broken_hops(judged_hops(shown, _call_chunks(arguments), asked=(OFFERED,))) == set()
    shown = _shown(SAID, {"city": "Turin", "days": 3})
    assert broken_hops(judged_hops(shown, _call_chunks(SAID), asked=(OFFERED,))) == {RULE}


def test_pieces_are_the_models_own() -> None:
    assert broken_hops(judged_hops(_shown({**SAID, "days": 4}, SAID), _call_chunks(SAID))) == {RULE}


def _agent(*inputs: Any) -> tuple[str, str]:
    """A call of an agent that is announced with the first input, and has the others in news."""
    call = {"toolCallId": "c", "rawInput": inputs[0]}
    updates: list[Payload] = [{"sessionUpdate": "tool_call", "title": "Books", **call}]
    updates += [
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawInput": each}
        for each in inputs[1:]
    ]
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    lines: list[Payload] = [
        {"method": "session/update", "params": {"sessionId": "s", "update": each}}
        for each in (*updates, ended)
    ]
    lines.append({"id": 2, "result": {"stopReason": "end_turn"}})
    return "acp", "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in lines)


def test_an_agents_input_is_compared_where_it_is_the_models() -> None:
    assert broken_hops(judged_hops(_agent({}, SAID), _call_chunks(SAID))) == set()
    assert broken_hops(judged_hops(_agent({}, {**SAID, "days": 4}), _call_chunks(SAID))) == {RULE}
    assert broken_hops(judged_hops(_agent({**SAID, "days": 4}), _call_chunks(SAID))) == {RULE}
    assert broken_hops(judged_hops(_agent({"command": ["book"]}), _call_chunks(SAID))) == set()
