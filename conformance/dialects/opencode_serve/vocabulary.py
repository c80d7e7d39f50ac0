"""The events of opencode's bus: their names, their keys, and what differs from delta to delta."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "opencode.serve"
UNKNOWN: Final = "bus.unknown"
OVERFLOW: Final = "bus.overflow"
EVENTS: Final = EventTable(
    openings=("server.connected",),
    words={"message.part.delta": {"text": ("properties", "delta")}},
    finishes=("session.idle",),
    others=(
        *("session.created", "session.updated", "session.deleted", "session.diff"),
        *("session.status", "session.error", "session.compacted", "server.heartbeat"),
        *("message.updated", "message.removed", "message.part.updated", "message.part.removed"),
        *("permission.asked", "permission.replied", "question.asked", "question.replied"),
        *("question.rejected", "todo.updated", "server.instance.disposed"),
        "permission.updated",  # the request for permission before 1.1
    ),
)
VOCABULARY: Final = vocabulary(NAME, *EVENTS.types, UNKNOWN, OVERFLOW)
WIRE_KEYS: Final = WireKeys(
    texts=("delta", "text"),
    shown=("delta", "text"),
    indices=("partID", "messageID", "sessionID"),
    words=("type", "status", "reason", "role"),
    free=("input", "output", "metadata"),
)


def unwrapped(payload: Any) -> dict[str, Any]:
    """The event of a payload: that of all projects (`/global/event`) has another one around it."""
    fields = mapping(payload)
    return mapping(fields["payload"]) if "payload" in fields else fields


def named_at(fields: Any) -> tuple[str, ...]:
    """Every event has an id of its own, since those of a release have one."""
    return ("id",) if string(fields.get("id")) else ()


COLUMNS: Final = EVENTS.columns(named_at, {"message.part.delta": "properties"})
