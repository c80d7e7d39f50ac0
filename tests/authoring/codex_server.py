"""Notifications of the app server of Codex, one by one; `turn` adds its start and its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import Fields, Line, deltas

_COMPLETED: Final = "item/completed"
PLACE: Final[Fields] = {"threadId": "thread-1", "turnId": "turn-1"}
COUNTS: Final[Fields] = {
    "totalTokens": 70,
    "inputTokens": 40,
    "outputTokens": 30,
    "reasoningOutputTokens": 18,
}


def note(method: str, **params: Any) -> Line:
    return Line({"method": method, "params": {**PLACE, **params}, "emittedAtMs": 1795350646982})


def item(what: str, kind: str, item_id: str, **fields: Any) -> Line:
    """The start or the completion of an item."""
    return note(f"item/{what}", item={"type": kind, "id": item_id, **fields})


def summarised(item_id: str, *parts: str) -> list[Line]:
    """Reasoning that is summarised, in parts."""
    return [
        item("started", "reasoning", item_id, summary=[], content=[]),
        *chain.from_iterable(_part(item_id, place, text) for place, text in enumerate(parts)),
        item("completed", "reasoning", item_id, summary=list(parts), content=[]),
    ]


def _part(item_id: str, place: int, text: str) -> list[Line]:
    at = {"itemId": item_id, "summaryIndex": place}
    events = [note("item/reasoning/summaryTextDelta", **at, delta=d) for d in deltas(text)]
    return [note("item/reasoning/summaryPartAdded", **at), *events]


def raw(item_id: str, text: str) -> list[Line]:
    """Reasoning as the model wrote it."""
    at = {"itemId": item_id, "contentIndex": 0}
    return [
        item("started", "reasoning", item_id, summary=[], content=[]),
        *(note("item/reasoning/textDelta", **at, delta=piece) for piece in deltas(text)),
        item("completed", "reasoning", item_id, summary=[], content=[text]),
    ]


def message(item_id: str, text: str) -> list[Line]:
    """What the user reads."""
    events = [
        note("item/agentMessage/delta", itemId=item_id, delta=piece) for piece in deltas(text)
    ]
    begun, over = (
        item(what, "agentMessage", item_id, text=each)
        for what, each in (("started", ""), ("completed", text))
    )
    return [begun, *events, over]


def command(item_id: str, text: str) -> list[Line]:
    """A command that is run, from its start to its end."""
    kind = "commandExecution"
    return [
        item("started", kind, item_id, command=text, status="inProgress"),
        item("completed", kind, item_id, command=text, status="completed", exitCode=0),
    ]


def ended(
    status: str = "completed", error: Fields | None = None, items: Sequence[Fields] = ()
) -> Line:
    """The end of the turn, which sums up some of its items."""
    summary = {"items": list(items), "itemsView": "summary" if items else "notLoaded"}
    return note(
        "turn/completed", turn={"id": "turn-1", **summary, "status": status, "error": error}
    )


def _messages(lines: Iterable[Line]) -> list[Fields]:
    """The messages that were completed."""
    completed = (
        each.payload["params"] for each in lines if each.payload.get("method") == _COMPLETED
    )
    return [each["item"] for each in completed if each["item"]["type"] == "agentMessage"]


def turn(parts: Iterable[list[Line]], over: Line | None = None) -> list[Line]:
    """A whole turn; without an end of its own it is completed, and has its last message."""
    events = list(chain.from_iterable(parts))
    begun = note("turn/started", turn={"id": "turn-1", "status": "inProgress", "items": []})
    asked = Line({"id": 3, "result": {"turn": {"id": "turn-1", "status": "inProgress"}}})
    counted = note("thread/tokenUsage/updated", tokenUsage={"total": COUNTS, "last": COUNTS})
    return [begun, asked, *events, counted, over or ended(items=_messages(events)[-1:])]
