"""Wire event types of `openai.responses`, and what the text-bearing ones carry.

Types are those of the published OpenAPI document and SDK, with the raw reasoning names that other
servers use (`response.reasoning.*`, `response.reasoning_part.*`) and `response.done` of the codex
backend. Servers send types that no schema knows: the `response.` prefix is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from conformance.core.events import Vocabulary

NAME: Final = "openai.responses"
OVERFLOW: Final = "openai.responses.overflow"

TextKind = Literal["raw", "summary", "text", "refusal", "arguments"]

CREATE: Final = "response.create"  # what a client sends over a WebSocket
CREATED: Final = "response.created"
COMPACTED: Final = "response.compaction"  # a window of items for the next input, no answer
ITEM_ADDED: Final = "response.output_item.added"
ITEM_DONE: Final = "response.output_item.done"
PARTS_ADDED: Final = ("response.content_part.added", "response.reasoning_summary_part.added")

# Type -> what its `delta` is.
DELTAS: Final[Mapping[str, TextKind]] = {
    "response.reasoning_text.delta": "raw",
    "response.reasoning.delta": "raw",
    "response.reasoning_summary_text.delta": "summary",
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
}
# Type -> what its whole text is, and the field that holds it.
DONES: Final[Mapping[str, tuple[TextKind, str]]] = {
    "response.reasoning_text.done": ("raw", "text"),
    "response.reasoning.done": ("raw", "text"),
    "response.reasoning_summary_text.done": ("summary", "text"),
    "response.output_text.done": ("text", "text"),
    "response.refusal.done": ("refusal", "refusal"),
    "response.function_call_arguments.done": ("arguments", "arguments"),
    "response.custom_tool_call_input.done": ("arguments", "input"),
}
PART_DONES: Final = frozenset(
    {
        "response.content_part.done",
        "response.reasoning_part.done",
        "response.reasoning_summary_part.done",
    }
)
# Part type -> what its text is, and the field that holds it.
PARTS: Final[Mapping[str, tuple[TextKind, str]]] = {
    "reasoning_text": ("raw", "text"),
    "summary_text": ("summary", "text"),
    "output_text": ("text", "text"),
    "text": ("text", "text"),
    "refusal": ("refusal", "refusal"),
}
TERMINALS: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.done"}
)
ANNOUNCEMENTS: Final = frozenset({CREATED, "response.queued", "response.in_progress"})

_OTHERS: Final = frozenset(
    {
        "request",
        "request.item",
        "request.call",
        "request.result",
        "response",
        "response.item",
        "response.unknown",
        "[DONE]",
        "error",
        OVERFLOW,
        ITEM_ADDED,
        ITEM_DONE,
        *PARTS_ADDED,
        "response.reasoning_part.added",
        "response.output_text.annotation.added",
        "response.mcp_call.in_progress",
        "response.mcp_call.completed",
        "response.mcp_call.failed",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed",
        "response.mcp_list_tools.failed",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
        "response.web_search_call.completed",
        "response.file_search_call.in_progress",
        "response.file_search_call.searching",
        "response.file_search_call.completed",
        "response.code_interpreter_call.in_progress",
        "response.code_interpreter_call.interpreting",
        "response.code_interpreter_call.completed",
        "response.code_interpreter_call_code.delta",
        "response.code_interpreter_call_code.done",
        "response.image_generation_call.in_progress",
        "response.image_generation_call.generating",
        "response.image_generation_call.partial_image",
        "response.image_generation_call.completed",
        "response.shell_call_command.added",
        "response.shell_call_command.delta",
        "response.shell_call_command.done",
        "response.shell_call_output_content.delta",
        "response.shell_call_output_content.done",
        "response.apply_patch_call_operation_diff.delta",
        "response.apply_patch_call_operation_diff.done",
        "response.audio.delta",
        "response.audio.done",
        "response.audio.transcript.delta",
        "response.audio.transcript.done",
        COMPACTED,
        "response.compaction.compacting",
    }
)

VOCABULARY: Final = Vocabulary(
    NAME,
    frozenset({*DELTAS, *DONES, *PART_DONES, *TERMINALS, *ANNOUNCEMENTS, *_OTHERS}),
    ("response.",),
)
