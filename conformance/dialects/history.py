"""The request as wire events: `request`, then `request.item` per history entry.

An entry comes with `position` (from 0) and `kind`: its own `type`, which an event pattern cannot
name because `type` there is the event's, else `message` where it has a role, else `unknown`. The
last one says that it is `last`: what is asked now, or how the answer is to begin.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Event, Request, Vocabulary
from conformance.core.json_values import value_at
from conformance.dialects.history_calls import CallPairing
from conformance.dialects.json_edge import event_data, mapping, string

OF_HISTORY: Final = frozenset({"request", "request.item", "request.call", "request.result"})


def vocabulary(dialect: str, *types: str) -> Vocabulary:
    """These types, those of requests, and the sentinel that servers add to streams of any API."""
    return Vocabulary(dialect, frozenset({*types, "request", "request.item", "[DONE]"}))


def request_events(request: Request, entries: str, pairing: CallPairing | None) -> list[Event]:
    """Wire events of a request, all with number 0; none where its JSON is not known.

    `entries` is the path of the history; a bare string there is one entry of the user's, and an
    object with a type is one entry. `pairing` says which calls and results of the history belong
    together.
    """
    if request.json is None:
        return []
    events = [Event("request", event_data(request.json), 0, "wire")]
    history = _history_entries(request.json, entries)
    for position, entry in enumerate(history):
        fields = mapping(entry)
        kind = string(fields.get("type")) or ("message" if "role" in fields else "unknown")
        last = {"last": True} if position + 1 == len(history) else {}
        data = event_data(entry, position=position, kind=kind, **last)
        events.append(Event("request.item", data, 0, "wire"))
    if pairing is not None:
        events.extend(pairing.events(request, history))
    return events


def _history_entries(body: Any, entries: str) -> list[Any]:
    history = value_at(body, *entries.split("."))
    if isinstance(history, str):
        return [{"role": "user", "content": history}]
    if isinstance(history, dict) and "type" in history:
        return [history]
    return history if isinstance(history, list) else []
