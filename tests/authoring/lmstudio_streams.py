"""Streams and bodies of LM Studio's chat that keep the rules, made of its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.pieces import Fields, Message, characters, deltas

DIALECT: Final = "lmstudio.chat"
MODEL: Final = "think-1"
FIRST_ID: Final = "resp_synthetic0001"
TIDE: Final = "High water was at six, and the tide turns after some six hours and a quarter."
TIDE_TEXT: Final = "Low water is at a quarter past twelve."
PORT: Final[Fields] = {"type": "ephemeral_mcp", "server_label": "harbour"}

drafted = partial(stream_draft, dialect=DIALECT, path="/api/v1/chat")
_in_one_piece = partial(body_draft, dialect=DIALECT, path="/api/v1/chat")


def drafts() -> Iterator[Draft]:
    asked = _asked("When is low water?")
    said = [("reasoning", TIDE), ("message", TIDE_TEXT)]
    yield drafted("lmstudio/thinking-then-text", asked, answer(said, (15, 38, 21)), sizes=(89, 7))

    flower = "さくらの花は淡い桃色です。"
    thought = "The answer is short, so I need not say much of it."
    asked = _asked("さくらは何色ですか。", reasoning="low", store=False)
    pieces = answer([("reasoning", thought), ("message", flower)], (16, 25, 12), named="")
    yield drafted("lmstudio/loaded", asked, [pieces[0], *map(event, _loading()), *pieces[1:]])

    asked = _asked("Say hello.", reasoning="off")
    pieces = answer([("message", "Hello to you, and a good day!")], (9, 9, 0))
    yield drafted("lmstudio/no-thinking", asked, pieces)

    yield from _calls()
    yield from _ends()
    yield from _bodies()
    yield _next_turn()


def _asked(said: Any, **more: Any) -> Fields:
    return {"model": MODEL, "input": said, "reasoning": "on", "stream": True, **more}


def _calls() -> Iterator[Draft]:
    """The server runs its tools, and the model goes on with what they gave."""
    asked = _asked(
        "When does the ferry sail?", integrations=[{**PORT, "server_url": "https://a.example"}]
    )
    called = call("timetable", {"line": "island"}, "at nine")
    first, then = "I have to look that up in the timetable.", "The timetable has it, so I can say."
    said = [("reasoning", first), called, ("reasoning", then), ("message", "It sails at nine.")]
    yield drafted("lmstudio/thinking-then-call", asked, answer(said, (61, 47, 24)))

    # A server that names the tool in an event of its own; and a call that comes to nothing.
    failed: Fields = {"type": "invalid_tool_call", "reason": "Cannot find tool with name tide."}
    failed |= {"metadata": {"type": "invalid_name", "tool_name": "tide"}}
    said = [("reasoning", first), failed, called, ("message", "It sails at nine.")]
    yield drafted("lmstudio/calls-named-apart", asked, answer(said, (61, 40, 12), apart=True))


def _ends() -> Iterator[Draft]:
    asked = _asked("When is low water?")
    whole = answer([("reasoning", TIDE), ("message", "Low water is at")], (15, 30, 21))
    failed = {
        "type": "error",
        "error": {"type": "internal_error", "message": "The model was unloaded."},
    }
    yield drafted("lmstudio/error-in-text", asked, [*whole[:-2], event(failed), whole[-1]])
    yield drafted("lmstudio/closed", asked, whole[:-3], end="client-closed")


def _bodies() -> Iterator[Draft]:
    asked = _asked("When is low water?", stream=False)
    body = result([("reasoning", TIDE), ("message", TIDE_TEXT)], (15, 38, 21))
    yield _in_one_piece("lmstudio/body", asked, body)

    asked = _asked("When does the ferry sail?", stream=False)
    called = call("timetable", {"line": "island"}, "at nine")
    body = result([("reasoning", "I look that up."), called, ("message", "At nine.")], (61, 40, 12))
    yield _in_one_piece("lmstudio/body-with-call", asked, body)


def _next_turn() -> Draft:
    """A turn, and one that names it."""
    said = [("reasoning", TIDE), ("message", TIDE_TEXT)]
    first = drafted("lmstudio/next-turn", _asked("When is low water?"), answer(said, (15, 38, 21)))
    more = [{"type": "text", "content": "And high water?"}]
    said = [("reasoning", "The tide turns once more."), ("message", "At half past six.")]
    second = answer(said, (60, 16, 6), named="resp_synthetic0002")
    asked = _asked(more, previous_response_id=FIRST_ID)
    return replace(first, then=(replace(first, asked=asked, pieces=second, after=1),))


def answer(
    said: Sequence[Any], usage: tuple[int, int, int], *, apart: bool = False, named: str = FIRST_ID
) -> tuple[Message, ...]:
    """A whole stream: texts with their kind, and calls as a result lists them."""
    events: list[Fields] = [
        {"type": "chat.start", "model_instance_id": MODEL},
        {"type": "prompt_processing.start"},
        {"type": "prompt_processing.progress", "progress": 0.5},
        {"type": "prompt_processing.end"},
    ]
    for each in said:
        events += _block(*each) if isinstance(each, tuple) else _call_events(each, apart=apart)
    events.append({"type": "chat.end", "result": result(said, usage, named=named)})
    return tuple(map(event, events))


def event(fields: Fields) -> Message:
    """An event with the line that its type asks for."""
    return Message(fields, str(fields["type"]))


def call(tool: str, arguments: Fields, output: str) -> Fields:
    named = {"type": "tool_call", "tool": tool, "arguments": arguments}
    return {**named, "output": output, "provider_info": PORT}


def result(said: Sequence[Any], usage: tuple[int, int, int], *, named: str = FIRST_ID) -> Fields:
    items = [
        dict(zip(("type", "content"), e, strict=True)) if isinstance(e, tuple) else e for e in said
    ]
    counted = ("input_tokens", "total_output_tokens", "reasoning_output_tokens")
    stats = {**dict(zip(counted, usage, strict=True)), "tokens_per_second": 43.5}
    whole = {"model_instance_id": MODEL, "output": items, "stats": stats}
    return {**whole, "response_id": named} if named else whole


def _block(kind: str, text: str) -> Iterator[Fields]:
    yield {"type": f"{kind}.start"}
    for piece in deltas(text) if " " in text else characters(text):
        yield {"type": f"{kind}.delta", "content": piece}
    yield {"type": f"{kind}.end"}


def _call_events(item: Fields, *, apart: bool) -> Iterable[Fields]:
    if item["type"] == "invalid_tool_call":
        return [{**item, "type": "tool_call.failure"}]
    named = {"tool": item["tool"], "provider_info": PORT}
    told = {"tool_name": item["tool"], "provider_info": PORT}
    begun = [{"type": "tool_call.start"}, {"type": "tool_call.name", **told}] if apart else []
    return [
        *(begun or [{"type": "tool_call.start", **named}]),
        {"type": "tool_call.arguments", **named, "arguments": item["arguments"]},
        {**item, "type": "tool_call.success"},
    ]


def _loading() -> Iterator[Fields]:
    yield {"type": "model_load.start", "model_instance_id": MODEL}
    for done in (0.25, 1):
        yield {"type": "model_load.progress", "model_instance_id": MODEL, "progress": done}
    yield {"type": "model_load.end", "model_instance_id": MODEL, "load_time_seconds": 2.5}
