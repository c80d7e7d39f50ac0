"""What the reader of a dialect gives for payloads, one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from conformance import dialects
from conformance.core.events import Event, Frame, Request
from conformance.core.reading import Reading

_PLAIN: Final = Reading()


def read_payloads(
    dialect: str,
    *payloads: Any,
    kind: Any = "event",
    name: str = "message",
    end: Any = "eof",
    request: Any = None,
    reading: Reading = _PLAIN,
) -> list[Event]:
    """All events, those of the request first; each payload is a frame of that kind and name."""
    reader = dialects.get(dialect).reader(reading)
    events = [*reader.request(Request(json=request))] if request else []
    for number, payload in enumerate(payloads, 1):
        events += reader.read(Frame(kind, name, json.dumps(payload), "", 0), payload, number)
    return [*events, *reader.end(end, len(payloads) + 1)]


def typed_payloads(dialect: str, *payloads: Any, **more: Any) -> list[Any]:
    """Semantic events as type and what is said; wire events by type alone."""
    events = read_payloads(dialect, *payloads, **more)
    return [(e.type, dict(e.data)) if e.layer == "semantic" else e.type for e in events]


def types_of(events: Iterable[Event]) -> list[str]:
    """Of the semantic events alone."""
    return [each.type for each in events if each.layer == "semantic"]


def texts_of(events: Iterable[Event], kind: str) -> str:
    return "".join(each.data["text"] for each in events if each.type == kind)
