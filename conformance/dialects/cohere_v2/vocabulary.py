"""Wire events of `cohere.v2`, by what they carry."""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import Path
from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary

NAME: Final = "cohere.v2"
UNKNOWN: Final = "cohere.unknown"
OVERFLOW: Final = "cohere.overflow"
_CONTENT: Final[Path] = ("delta", "message", "content")
EVENTS: Final = EventTable(
    openings=("message-start",),
    starts=("content-start", "tool-call-start"),
    words={
        "content-delta": {"thinking": (*_CONTENT, "thinking"), "text": (*_CONTENT, "text")},
        "tool-plan-delta": {"thinking": ("delta", "message", "tool_plan")},
        "tool-call-delta": {
            "arguments": ("delta", "message", "tool_calls", "function", "arguments")
        },
    },
    text_ends={"content-delta": "content-end", "tool-call-delta": "tool-call-end"},
    ends=("content-end", "tool-call-end"),
    finishes=("message-end",),
    others=("citation-start", "citation-end"),
)
STREAMED: Final = EVENTS.types
VOCABULARY: Final = vocabulary(
    NAME,
    *STREAMED,
    *("request.call", "request.result", "cohere.body", "cohere.block", "cohere.tool"),
    *("cohere.error", UNKNOWN, OVERFLOW),
)
