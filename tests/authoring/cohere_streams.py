"""Streams and bodies of Cohere's Chat that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.cohere import (
    MODEL,
    answer,
    body,
    call,
    call_id,
    citation,
    message,
    opening,
    plan,
    text,
    thinking,
)
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
from tests.authoring.pieces import Fields, Message, characters

DIALECT: Final = "cohere.v2"

GLAZE: Final = "A glaze needs sugar and a little water, so the question is only how much of each."
GLAZE_TEXT: Final = "Four spoons of sugar to one of water."

drafted = partial(stream_draft, dialect=DIALECT, path="/v2/chat")
_in_one_piece = partial(body_draft, dialect=DIALECT, path="/v2/chat")


def drafts() -> Iterator[Draft]:
    yield from _thinking()
    yield from _calls()
    yield from _ends()
    yield from _bodies()
    yield _tool_round()
    yield _spoken_round()
    yield _next_turn()
    yield _thinking_left_out()


def _asked(*messages: Fields | str, **more: Any) -> Fields:
    turns = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    enabled = {"type": "enabled"}
    return {"model": MODEL, "messages": turns, "thinking": enabled, "stream": True, **more}


def _thinking() -> Iterator[Draft]:
    asked = _asked("How is a glaze made?")
    parts = [thinking(0, GLAZE), text(1, GLAZE_TEXT)]
    yield drafted("cohere/thinking-then-text", asked, answer(parts, (14, 41, 24)), sizes=(97, 12))

    asked = _asked("さくらは何色ですか。", thinking={"type": "enabled", "token_budget": 64})
    flower = "さくらの花は淡い桃色です。"
    parts = [thinking(0, "Cherry blossom."), text(1, flower, characters(flower))]
    yield drafted("cohere/budget", asked, answer(parts, (16, 19, 5)), sizes=(61, 7, 190))

    asked = _asked("What does the leaflet say of the gym?", thinking={"type": "disabled"})
    said = text(0, "Members may use the gym for nothing.")
    cited = [*said[:3], *citation(0, 16, "the gym"), *citation(1, 24, "for nothing"), *said[3:]]
    yield drafted("cohere/citations", asked, answer([cited], (40, 12, None)))


def _calls() -> Iterator[Draft]:
    asked = _asked("When do the ferries sail?", tools=[_tool()])
    calls = [call(0, NAME, ['{"line":', '"island"}']), call(1, NAME, ['{"line":"harbour"}'])]
    pieces = answer([thinking(0, FERRY_THOUGHT), *calls], (60, 52, 19), "TOOL_CALL")
    yield drafted("cohere/thinking-then-tools", asked, pieces)

    # Models without thinking plan in a field of its own, which nothing counts apart.
    asked = _asked(FERRY, tools=[_tool()])
    parts = [plan("I will ask the timetable."), call(0, NAME, [ARGUMENTS])]
    del asked["thinking"]
    pieces = answer(parts, (60, 22, None), "TOOL_CALL")
    yield drafted("cohere/plan-then-tool", asked, pieces, profile="cohere")


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", max_tokens=16)
    parts = [thinking(0, "There is no end to them."), text(1, "2, 3, 5,")]
    yield drafted("cohere/max-tokens", asked, answer(parts, (12, 16, 8), "MAX_TOKENS"))

    asked = _asked("How is a glaze made?")
    failure = "the generation failed due to an internal error"
    parts = [thinking(0, GLAZE), text(1, GLAZE_TEXT)[:2]]
    pieces = answer(parts, (14, 26, 24), "ERROR", error=failure)
    yield drafted("cohere/error-in-text", asked, pieces)

    said = map(message, [opening(), *thinking(0, GLAZE)[:-1]])
    failed = Message({"message": "the upstream service is not there any more"})
    yield drafted("cohere/error-in-answer", asked, [*said, failed])


def _bodies() -> Iterator[Draft]:
    asked = _asked("How is a glaze made?", stream=False)
    blocks = [{"type": "thinking", "thinking": GLAZE}, {"type": "text", "text": GLAZE_TEXT}]
    yield _in_one_piece("cohere/body", asked, body({"content": blocks}, (14, 41, 24)))

    asked = _asked(FERRY, stream=False, tools=[_tool()])
    called = {"content": [{"type": "thinking", "thinking": FERRY_THOUGHT}], "tool_calls": [_call()]}
    whole = body(called, (60, 30, 19), "TOOL_CALL")
    yield _in_one_piece("cohere/body-with-call", asked, whole)


def _tool() -> Fields:
    schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    return {"type": "function", "function": {"name": NAME, "parameters": schema}}


def _call() -> Fields:
    function = {"name": NAME, "arguments": ARGUMENTS}
    return {"id": call_id(NAME, 0), "type": "function", "function": function}


def _tool_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    asked = _asked(FERRY, tools=[_tool()])
    parts = [thinking(0, FERRY_THOUGHT), call(0, NAME, [ARGUMENTS])]
    pieces = answer(parts, (60, 30, 19), "TOOL_CALL")
    thought = [{"type": "thinking", "thinking": FERRY_THOUGHT}]
    called = {"role": "assistant", "content": thought, "tool_calls": [_call()]}
    result = {"role": "tool", "tool_call_id": call_id(NAME, 0), "content": FERRY_RESULT}
    carried_on = _asked(FERRY, called, result, tools=[_tool()])
    found = answer([thinking(0, FOUND), text(1, FERRY_TEXT)], (90, 24, 12))
    first = drafted(f"cohere/{ROUND}", asked, pieces, scenario=ROUND, role="tool-turn")
    second = drafted(f"cohere/{ROUND}", carried_on, found, scenario=ROUND, role="follow-up")
    return replace(first, then=(replace(second, after=1),))


def _spoken_round() -> Draft:
    """The same of a model that says what it does: text may stand beside calls."""
    asked, spoken = _asked(FERRY, tools=[_tool()]), "I look that up."
    parts = [thinking(0, FERRY_THOUGHT), text(1, spoken), call(0, NAME, [ARGUMENTS])]
    pieces = answer(parts, (60, 36, 19), "TOOL_CALL")
    blocks = [{"type": "thinking", "thinking": FERRY_THOUGHT}, {"type": "text", "text": spoken}]
    called = {"role": "assistant", "content": blocks, "tool_calls": [_call()]}
    result = {"role": "tool", "tool_call_id": call_id(NAME, 0), "content": FERRY_RESULT}
    carried_on = _asked(FERRY, called, result, tools=[_tool()])
    found = answer([thinking(0, FOUND), text(1, FERRY_TEXT)], (90, 24, 12))
    facts = {"scenario": ROUND, "profile": "cohere"}
    first = drafted("cohere/spoken-round", asked, pieces, role="tool-turn", **facts)
    second = drafted("cohere/spoken-round", carried_on, found, role="follow-up", **facts)
    return replace(first, then=(replace(second, after=1),))


def _next_turn() -> Draft:
    """A turn without calls, and one that asks on with all of it."""
    asked = _asked("How is a glaze made?")
    pieces = answer([thinking(0, GLAZE), text(1, GLAZE_TEXT)], (14, 41, 24))
    first = drafted("cohere/next-turn", asked, pieces, scenario="next-turn", role="turn")
    blocks = [{"type": "thinking", "thinking": GLAZE}, {"type": "text", "text": GLAZE_TEXT}]
    said = {"role": "assistant", "content": blocks}
    carried_on = _asked("How is a glaze made?", said, "And with lemon?")
    parts = [thinking(0, "Lemon takes the place of the water."), text(1, "The same, with lemon.")]
    pieces = answer(parts, (70, 20, 11))
    second = replace(first, asked=carried_on, pieces=pieces, role="next-turn", after=1)
    return replace(first, then=(second,))


def _thinking_left_out() -> Draft:
    """A client that never sends thinking back."""
    said = {"role": "assistant", "content": [{"type": "text", "text": GLAZE_TEXT}]}
    asked = _asked("How is a glaze made?", said, "And with lemon?")
    parts = [thinking(0, "Lemon takes the place of the water."), text(1, "The same, with lemon.")]
    pieces = answer(parts, (40, 20, 11))
    return drafted("never-sends-back/second-turn", asked, pieces, profile="never-sends-back")
