"""Streams and bodies of Ollama's chat that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.history_shared import FERRY, FERRY_RESULT, FERRY_TEXT, FERRY_THOUGHT, FOUND
from tests.authoring.ollama import MODEL, answer, body, call, spoken, thought
from tests.authoring.pieces import LINES, Fields, Line, characters, cut

DIALECT: Final = "ollama.chat"
ROUND: Final = "tool-round"

SOUP: Final = "Lentils need no soaking, so the soup is done within the hour."
SOUP_TEXT: Final = "About forty minutes."
TOOL: Final = "get_timetable"
ARGUMENTS: Final[Fields] = {"line": "island"}

drafted = partial(stream_draft, dialect=DIALECT, path="/api/chat", content_type=LINES)
_in_one_piece = partial(body_draft, dialect=DIALECT, path="/api/chat")


def drafts() -> Iterator[Draft]:
    yield from _streams()
    yield from _ends()
    yield from _bodies()
    yield _tool_round()
    yield _thinking_left_out()
    yield _model_list()


def _asked(*messages: Fields | str, **more: Any) -> Fields:
    turns = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    return {"model": MODEL, "messages": turns, "think": True, **more}


def _streams() -> Iterator[Draft]:
    asked = _asked("How long does lentil soup take?")
    lines = answer([*thought(SOUP), *spoken(SOUP_TEXT)], (14, 27))
    yield drafted("ollama/thinking-then-text", asked, lines, sizes=(211, 64, 3, 512))

    asked = _asked("ひまわりは何色ですか。", think="low", stream=True)
    flower = "ひまわりは黄色です。"
    lines = answer([*thought("Sunflowers."), *spoken(flower, characters(flower))], (16, 19))
    yield drafted("ollama/level-low", asked, lines, sizes=(97,))

    asked = _asked("How long does lentil soup take?", think=False, stream=True)
    yield drafted("ollama/thinking-off", asked, answer(spoken(SOUP_TEXT), (14, 6)))

    asked = _asked("When do the ferries sail?", tools=[_tool()])
    calls = [call(0, TOOL, ARGUMENTS), call(1, TOOL, {"line": "harbour"})]
    lines = answer([*thought(FERRY_THOUGHT), *spoken("I look that up."), *calls], (90, 41))
    yield drafted("ollama/thinking-then-tools", asked, lines)

    asked = _asked("How long does lentil soup take?")
    cached = answer([*thought(SOUP), *spoken(SOUP_TEXT)], (14, 27))
    uncounted = Line(cut(cached[-1].payload, "prompt_eval_count"))
    yield drafted("ollama/prompt-in-cache", asked, [*cached[:-1], uncounted], profile="ollama")


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", options={"num_predict": 24})
    lines = answer([*thought("There is no end to them."), *spoken("2, 3, 5,")], (12, 24), "length")
    yield drafted("ollama/length", asked, lines)

    asked = _asked("How long does lentil soup take?")
    lines = (*thought(SOUP), *spoken(SOUP_TEXT)[:1], Line({"error": "model runner has stopped"}))
    yield drafted("ollama/error-in-text", asked, lines)


def _bodies() -> Iterator[Draft]:
    asked = _asked("How long does lentil soup take?", stream=False)
    whole = body({"thinking": SOUP, "content": SOUP_TEXT}, (14, 27))
    yield _in_one_piece("ollama/body", asked, whole)

    asked = _asked("Does the ferry sail today?", stream=False, tools=[_tool()])
    function = {"index": 0, "name": TOOL, "arguments": ARGUMENTS}
    called = {"thinking": FERRY_THOUGHT, "tool_calls": [{"id": "call_0", "function": function}]}
    yield _in_one_piece("ollama/body-with-call", asked, body(called, (88, 33)))


def _tool() -> Fields:
    schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    return {"type": "function", "function": {"name": TOOL, "parameters": schema}}


def _tool_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    asked = _asked(FERRY, tools=[_tool()])
    lines = answer([*thought(FERRY_THOUGHT), call(0, TOOL, ARGUMENTS)], (90, 30))
    called = {
        "role": "assistant",
        "content": "",
        "thinking": FERRY_THOUGHT,
        "tool_calls": [{"id": "call_0", "function": {"name": TOOL, "arguments": ARGUMENTS}}],
    }
    result = {"role": "tool", "tool_name": TOOL, "content": FERRY_RESULT}
    carried_on = _asked(FERRY, called, result, tools=[_tool()])
    found = answer([*thought(FOUND), *spoken(FERRY_TEXT)], (130, 22))
    first = drafted(f"ollama/{ROUND}", asked, lines, scenario=ROUND, role="tool-turn")
    second = drafted(f"ollama/{ROUND}", carried_on, found, scenario=ROUND, role="follow-up")
    return replace(first, then=(replace(second, after=1),))


def _thinking_left_out() -> Draft:
    """A client that never sends thinking back."""
    said = {"role": "assistant", "content": SOUP_TEXT}
    asked = _asked("How long does lentil soup take?", said, "And with split lentils?")
    lines = answer([*thought("Split lentils are quicker."), *spoken("Half an hour.")], (40, 18))
    return drafted("never-sends-back/second-turn", asked, lines, profile="never-sends-back")


def _model_list() -> Draft:
    named = {"name": f"{MODEL}:latest", "model": f"{MODEL}:latest"}
    facts = {"modified_at": "2026-11-20T10:00:00Z", "size": 4096, "digest": "00", "details": {}}
    listed = {"models": [{**named, **facts}]}
    draft = _in_one_piece("ollama/models", {}, listed)
    return replace(draft, path="/api/tags", method="GET")
