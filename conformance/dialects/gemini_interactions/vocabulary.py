"""The wire events of the Interactions API, and what its steps are."""

from __future__ import annotations

from typing import Final

from conformance.dialects.event_table import EventTable
from conformance.dialects.history import vocabulary

NAME: Final = "gemini.interactions"
UNKNOWN: Final = "interaction.unknown"
OVERFLOW: Final = "interaction.overflow"
ERROR: Final = "interaction.error"
BODY: Final = "interaction"
STEP: Final = "interaction.step"
USAGE: Final = "interaction.usage"

EVENTS: Final = EventTable(
    openings=("interaction.created",),
    starts=("step.start",),
    words={
        "thought_summary": {"thinking": ("delta", "content", "text")},
        "text": {"text": ("delta", "text")},
        "arguments_delta": {"arguments": ("delta", "arguments")},
    },
    event_type=("event_type",),
    delta_type=("delta", "type"),
    text_ends={"step.delta": "step.stop"},
    ends=("step.stop",),
    finishes=("interaction.completed",),
    others=("interaction.status_update", "error"),
)
STREAMED: Final = {
    kind: kind if kind.startswith("interaction.") else f"interaction.{kind}"
    for kind in EVENTS.types
}
"""Type of an event on the wire -> its name here: a step of an application is another thing."""

VOCABULARY: Final = vocabulary(
    NAME, *STREAMED.values(), "request.call", "request.result", BODY, STEP, USAGE, UNKNOWN, OVERFLOW
)

CALL: Final = "function_call"
THOUGHT: Final = "thought"
OUTPUT: Final = "model_output"
HOSTED_CALLS: Final = frozenset(
    {
        *("code_execution_call", "file_search_call", "google_maps_call", "google_search_call"),
        *("mcp_server_tool_call", "processing_call", "retrieval_call", "tool_search_call"),
        "url_context_call",
    }
)
"""Steps in which the server calls a tool of its own."""
