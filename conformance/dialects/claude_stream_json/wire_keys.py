"""Keys of the lines of Claude Code, and what they do; a session holds several answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.anthropic_messages.wire_keys import EVENTS as OF_MESSAGES
from conformance.dialects.event_table import EventTable
from conformance.dialects.json_edge import string
from conformance.dialects.wire_keys import WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("text", "thinking", "partial_json", "result"),
    shown=("text", "thinking", "result"),
    indices=("index",),
    opaque=("signature",),
    words=("type", "subtype", "role", "stop_reason", "status"),
    free=("input", "modelUsage", "tool_use_result"),
)
RUN: Final = EventTable(
    openings=("system",),
    starts=(*OF_MESSAGES.openings, *OF_MESSAGES.starts),
    words={
        delta: {what: ("event", *path) for what, path in words.items()}
        for delta, words in OF_MESSAGES.words.items()
    },
    event_type=("event", "type"),
    delta_type=("event", *OF_MESSAGES.delta_type),
    text_ends=OF_MESSAGES.text_ends,
    ends=(*OF_MESSAGES.ends, *OF_MESSAGES.finishes),
    finishes=("result",),
)


def line_id(fields: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Each line has an id of its own; one without does not go with others."""
    return ("uuid",) if string(fields.get("uuid")) else None
