"""Streams and bodies of Mistral's chat that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.history_streams import (
    ARGUMENTS,
    FERRY,
    FERRY_RESULT,
    FERRY_TEXT,
    FERRY_THOUGHT,
    FOUND,
    NAME,
    ROUND,
)
from tests.authoring.mistral import (
    END,
    MODEL,
    answer,
    body,
    call,
    call_id,
    chunk,
    parts,
    said,
    thinking,
    thought,
    written,
)
from tests.authoring.pieces import Fields, Message, characters, deltas, opaque

DIALECT: Final = "mistral.chat"

TIDE: Final = "High water is at noon, so the boat must be off the mud an hour before it."
TIDE_TEXT: Final = "Leave at eleven."

drafted = partial(stream_draft, dialect=DIALECT, path="/v1/chat/completions")
_in_one_piece = partial(body_draft, dialect=DIALECT, path="/v1/chat/completions")


def drafts() -> Iterator[Draft]:
    yield from _thinking()
    yield from _ends()
    yield from _bodies()
    yield _tool_round()
    yield _thinking_left_out()


def _asked(*messages: Fields | str, **more: Any) -> Fields:
    turns = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    return {"model": MODEL, "messages": turns, "reasoning_effort": "high", "stream": True, **more}


def _thinking() -> Iterator[Draft]:
    # Native reasoning models: parts, an empty one at the end, then texts.
    asked = _asked("When do we leave?", prompt_mode="reasoning")
    del asked["reasoning_effort"]
    pieces = [*thought(TIDE), parts(END), *said(deltas(TIDE_TEXT))]
    yield drafted("mistral/end-mark", asked, answer(pieces, (10, 42)), sizes=(97, 12))

    # Newer models: closed, and the first text beside the last thinking.
    asked = _asked("When do we leave?")
    first, *middle, last = deltas(TIDE)
    boundary = parts(thinking(last, closed=True), written("Leave "))
    pieces = [
        parts(thinking(first)),
        *(parts(thinking(each, closed=True)) for each in middle),
        boundary,
    ]
    stream = answer(pieces, (10, 42), content="at eleven.")
    yield drafted("mistral/closed", asked, stream, sizes=(61, 190), profile="mistral")

    # Text comes as a part, too.
    asked = _asked("さくらは何色ですか。")
    flower = "さくらの花は淡い桃色です。"
    thoughts = [thinking("Cherry ", closed=False), thinking("blossom.", closed=True)]
    told = [written(each) for each in characters(flower)]
    stream = answer([parts(each) for each in (*thoughts, *told)], (8, 19))
    yield drafted("mistral/all-parts", asked, stream)

    asked = _asked("When do we leave?", reasoning_effort="none")
    yield drafted("mistral/thinking-off", asked, answer(said(deltas(TIDE_TEXT)), (10, 5)))


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", max_tokens=16)
    pieces = [*thought("There is no end to them."), *said(["2, 3,", " 5,"])]
    yield drafted("mistral/length", asked, answer(pieces, (12, 16), "length"))

    asked = _asked("When do we leave?")
    failed = {"object": "error", "message": "the model is overloaded", "type": "service_error"}
    pieces = [chunk(role="assistant", content=""), *thought(TIDE), Message({"error": failed})]
    yield drafted("mistral/error-in-thinking", asked, pieces)


def _bodies() -> Iterator[Draft]:
    asked = _asked("When do we leave?", stream=False)
    content = [thinking(TIDE, closed=True), written(TIDE_TEXT)]
    yield _in_one_piece("mistral/body", asked, body({"content": content}, (10, 42)))

    asked = _asked("When do we leave?", stream=False, reasoning_effort="none")
    yield _in_one_piece("mistral/body-without", asked, body({"content": TIDE_TEXT}, (10, 5)))

    asked = _asked(FERRY, stream=False, tools=[_tool()])
    called = {
        "content": [thinking(FERRY_THOUGHT, closed=True)],
        "tool_calls": [call(0, NAME, ARGUMENTS)],
    }
    whole = body(called, (60, 30), "tool_calls")
    yield _in_one_piece("mistral/body-with-call", asked, whole)


def _tool() -> Fields:
    schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    return {"type": "function", "function": {"name": NAME, "parameters": schema}}


def _tool_round() -> Draft:
    """A turn that calls a tool, with signed thinking, and the one that brings the result."""
    asked = _asked(FERRY, tools=[_tool()])
    *first, last = deltas(FERRY_THOUGHT)
    seal = {"signature": opaque("ferry"), "closed": True}
    pieces = [*(parts(thinking(each)) for each in first), parts(thinking(last, **seal))]
    called = call(0, NAME, ARGUMENTS)
    stream = answer(pieces, (60, 30), "tool_calls", tool_calls=[called])
    content = [thinking(FERRY_THOUGHT, **seal)]
    turn = {"role": "assistant", "content": content, "tool_calls": [_bare(called)]}
    result = {"role": "tool", "tool_call_id": call_id(0), "name": NAME, "content": FERRY_RESULT}
    carried_on = _asked(FERRY, turn, result, tools=[_tool()])
    found = answer([*thought(FOUND), *said(deltas(FERRY_TEXT))], (90, 24))
    before = drafted(f"mistral/{ROUND}", asked, stream, scenario=ROUND, role="tool-turn")
    after = drafted(f"mistral/{ROUND}", carried_on, found, scenario=ROUND, role="follow-up")
    return replace(before, then=(replace(after, after=1),))


def _bare(called: Fields) -> Fields:
    return {key: value for key, value in called.items() if key != "index"}


def _thinking_left_out() -> Draft:
    """A client that never sends thinking back."""
    turn = {"role": "assistant", "content": TIDE_TEXT}
    asked = _asked("When do we leave?", turn, "And back?")
    pieces = answer([*thought("Six hours later."), *said(["At five."])], (40, 11))
    return drafted("never-sends-back/second-turn", asked, pieces, profile="never-sends-back")
