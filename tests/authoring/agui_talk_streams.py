"""A talk with an agent in three runs: a call that the interface carries out, and a new question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tests.authoring import agui
from tests.authoring.draft import Draft
from tests.authoring.pieces import Fields, compact, opaque

QUESTION: Final = "May the wide barge go under the old bridge today?"
THOUGHT: Final = "Only the board at the lock has the height, so I look at it."
CALL: Final = "call_0"
ARGUMENTS: Final[Fields] = {"side": "north"}
RESULT: Final = "Three metres, and falling until four."
AGAIN: Final = "The barge needs four metres, and it is falling, so that is a no."
TEXT: Final = "Not today: the water leaves three metres, and the barge needs four of them."
NEXT: Final = "And tomorrow?"
NEXT_THOUGHT: Final = "Tomorrow is the neap."
NEXT_TEXT: Final = "Yes, at nine."


def drafts() -> Iterator[Draft]:
    seals = [opaque(f"{each} of the lock", 64) for each in ("first", "second")]
    opening = [
        agui.span("r1", agui.thought("r1", THOUGHT), [agui.sealed("r1", seals[0])]),
        agui.call(CALL, "read_board", ARGUMENTS, RESULT)[:-1],
    ]
    closing = [
        agui.span("r2", agui.thought("r2", AGAIN), [agui.sealed("r2", seals[1])]),
        agui.text("t2", TEXT),
    ]
    third = [agui.span("r3", agui.thought("r3", NEXT_THOUGHT)), agui.text("t3", NEXT_TEXT)]
    asked = [_said("user-1", "user", QUESTION)]
    called = [_thought("r1", THOUGHT, seals[0]), _called(), _result()]
    again = [_thought("r2", AGAIN, seals[1]), _said("t2", "assistant", TEXT)]
    first = agui.drafted("agent/talk", _input("run-1", asked), agui.run(opening))
    yield replace(
        first,
        then=(
            _run(first, "run-2", [*asked, *called], closing),
            _run(first, "run-3", [*asked, *called, *again, _said("user-2", "user", NEXT)], third),
        ),
    )


def _run(
    first: Draft, name: str, history: Sequence[Fields], parts: Sequence[list[Fields]]
) -> Draft:
    return replace(first, asked=_input(name, history), pieces=agui.run(parts, runId=name))


def _input(name: str, history: Sequence[Fields]) -> Fields:
    return {**agui.run_input(""), "runId": name, "messages": [*history]}


def _said(name: str, role: str, content: str) -> Fields:
    return {"id": name, "role": role, "content": content}


def _thought(name: str, content: str, seal: str) -> Fields:
    return {**_said(name, "reasoning", content), "encryptedValue": seal}


def _called() -> Fields:
    function = {"name": "read_board", "arguments": compact(ARGUMENTS)}
    call = {"id": CALL, "type": "function", "function": function}
    return {"id": CALL, "role": "assistant", "toolCalls": [call]}


def _result() -> Fields:
    return {**_said("result-1", "tool", RESULT), "toolCallId": CALL}
