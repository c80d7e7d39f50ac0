"""Lines of Copilot CLI that keep the rules, made of the events of its sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tests.authoring.pieces import Fields, Line, deltas

TIDE: Final = "High water was at six, and the tide turns after some six hours and a quarter."
TIDE_TEXT: Final = "Low water is at a quarter past twelve."
FERRY: Final = "I have to look that up in the timetable."
_TRANSIENT: Final = ("_delta", "message_start", "assistant.reasoning", "assistant.idle")


def run(events: Iterable[Fields], *, code: int = 0) -> list[Line]:
    """The lines of a run: what the user message_events, the events, and how it ended."""
    asked = event("user.message", {"content": "When is low water?", "turnId": "0"})
    made = [asked, *events, event("assistant.idle", {})]
    lines = [Line(_line(n, each["type"], each["data"])) for n, each in enumerate(made)]
    usage = {"premiumRequests": 0, "totalApiDurationMs": 38, "sessionDurationMs": 678}
    ended = {"timestamp": _time(len(made)), "sessionId": _id(0), "exitCode": code}
    return [*lines, Line({"type": "result", **ended, "usage": usage})]


def turn(number: int, *said: Iterable[Fields]) -> list[Fields]:
    at = {"turnId": str(number)}
    inner = [each for events in said for each in events]
    return [event("assistant.turn_start", at), *inner, event("assistant.turn_end", at)]


def thought(number: int, text: str) -> list[Fields]:
    return delta_events("reasoning", number, deltas(text))


def message_events(number: int, text: str, **more: Any) -> list[Fields]:
    """A message, and the reasoning that was streamed before it, stated behind it."""
    thinks = {"reasoningText": TIDE} if number == 0 else {}
    whole = message(number, text, **thinks, **more)
    stated = [reasoning(number, TIDE)] if number == 0 else []
    return [*_started(number), *delta_events("message", number, deltas(text)), whole, *stated]


def message(number: int, text: str, *requests: Fields, **more: Any) -> Fields:
    named = {"messageId": _id(100 + number), "content": text, "toolRequests": [*requests]}
    return event("assistant.message", {**named, "turnId": str(number), **more})


def reasoning(number: int, text: str) -> Fields:
    named = {"reasoningId": _id(200 + number), "content": text, "rte": False}
    return event("assistant.reasoning", named)


def event(kind: str, data: Fields) -> Fields:
    return {"type": kind, "data": data}


def calling() -> list[Fields]:
    named = {"toolCallId": "call_1", "toolName": "timetable"}
    asked = {"line": "island"}
    pieces = [
        event("assistant.tool_call_delta", {**named, "toolType": "function", "inputDelta": each})
        for each in ('{"line":', '"island"}')
    ]
    request = {"toolCallId": "call_1", "name": "timetable", "arguments": asked, "type": "function"}
    result = {"content": "at nine"}
    return turn(
        0,
        thought(0, FERRY),
        pieces,
        [message(0, "", request, reasoningText=FERRY), reasoning(0, FERRY)],
        [event("tool.execution_start", {**named, "arguments": asked, "turnId": "0"})],
        [event("tool.execution_complete", {**named, "success": True, "result": result})],
    )


def whole() -> list[Fields]:
    """Without streaming only complete events come."""
    return turn(0, [message(0, TIDE_TEXT, reasoningText=TIDE), reasoning(0, TIDE)])


def tried_again() -> list[Fields]:
    """The provider's answer breaks off, and the model is asked again."""
    cut = [*thought(7, "High water"), *_started(7), *delta_events("message", 7, ["Low "])]
    again = event("assistant.turn_retry", {"turnId": "0", "reason": "streaming_error"})
    return turn(0, cut, [again], thought(0, TIDE), message_events(0, TIDE_TEXT))


def failed() -> list[Fields]:
    cut = [*thought(7, TIDE), *_started(7), *delta_events("message", 7, ["Low ", "water"])]
    failure = {"errorType": "query", "message": "Failed to get a response: it broke off."}
    return [*turn(0, cut), event("session.error", failure)]


def _started(number: int) -> list[Fields]:
    return [event("assistant.message_start", {"messageId": _id(100 + number)})]


def delta_events(kind: str, number: int, pieces: Iterable[str]) -> list[Fields]:
    named = {f"{kind}Id": _id((100 if kind == "message" else 200) + number)}
    made = ({**named, "deltaContent": each} for each in pieces)
    return [event(f"assistant.{kind}_delta", each) for each in made]


def _line(number: int, kind: str, data: Fields) -> Fields:
    mark = {"ephemeral": True} if kind.endswith(_TRANSIENT) else {}
    placed = {"id": _id(1000 + number), "timestamp": _time(number), "parentId": _id(999)}
    return {"type": kind, "data": data, **mark, **placed}


def _time(number: int) -> str:
    return f"2026-11-28T09:30:{number // 10:02}.{number % 10}00Z"


def _id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"
