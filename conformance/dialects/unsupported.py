"""Dialects that are recognised but have no reader, so that a stream of one is named.

What passes between the parts of one process is no wire, and gets none: its marks are here, so that
who wrote it to a file learns it. Marks are structural: a key or a type that no other dialect uses.
Errors, `[DONE]` and other payloads that several dialects share name none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping, string


def _is_text_completion(fields: dict[str, Any]) -> bool:
    return fields.get("object") in COMPLETIONS


def _is_assistants_event(fields: dict[str, Any]) -> bool:
    kind = string(fields.get("object")) or ""
    return kind == "thread" or kind.startswith(("thread.run", "thread.message"))


def _is_claude_completion(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "completion" and isinstance(fields.get("completion"), str)


def _is_agents_event(fields: dict[str, Any]) -> bool:
    return string(fields.get("type")) in _OF_AGENTS


def _is_pi_event(fields: dict[str, Any]) -> bool:
    return string(fields.get("type")) in _OF_PI


def is_realtime(fields: dict[str, Any]) -> bool:
    """Whether an event is of the Realtime API, which shares names with another one.

    Its events have an `event_id` and no `sequence_number`, and its responses are of another object
    (https://developers.openai.com/api/reference/resources/realtime/server-events).
    """
    kind = string(fields.get("type"))
    if kind in _OF_REALTIME or kind.startswith(_REALTIME_FAMILIES):
        return True
    response = mapping(fields.get("response"))
    if response.get("object") == "realtime.response":
        return True
    is_event = isinstance(fields.get("event_id"), str) and "sequence_number" not in fields
    return is_event and kind.startswith("response.")


COMPLETIONS: Final = ("text_completion", "completion.chunk")
"""Objects of `openai.completions`: as the API names them, and as Together does in streams."""
_OF_REALTIME: Final = frozenset(
    {
        *("session.created", "session.update", "session.updated", "rate_limits.updated"),
        *("conversation.created", "response.text.delta", "response.text.done"),
    }
)
_REALTIME_FAMILIES: Final = (
    *("conversation.item.", "input_audio_buffer.", "output_audio_buffer."),
    *("transcription_session.", "response.output_audio", "mcp_list_tools."),
)
_OF_AGENTS: Final = frozenset(
    {"agent_updated_stream_event", "raw_response_event", "run_item_stream_event"}
)
_OF_PI: Final = frozenset(
    {
        *("agent_start", "agent_end", "turn_start", "turn_end", "message_update", "message_end"),
        *("tool_execution_start", "tool_execution_update", "tool_execution_end"),
    }
)
UNSUPPORTED: Final[Mapping[str, Callable[[dict[str, Any]], bool]]] = {
    "openai.completions": _is_text_completion,
    "openai.assistants": _is_assistants_event,
    "anthropic.complete": _is_claude_completion,
    "openai-agents": _is_agents_event,
    "pi-agent": _is_pi_event,
    "openai.realtime": is_realtime,
}
IN_PROCESS: Final[Mapping[str, str]] = {
    "openai-agents": "stream events of the OpenAI Agents SDK",
    "pi-agent": "events of the agent pi",
}
"""Those among them that are no wire -> what they are."""


def named(payload: Any) -> str | None:
    """Name of the dialect without a reader that the payload belongs to."""
    fields = mapping(payload)
    return next((name for name, claims in UNSUPPORTED.items() if claims(fields)), None)


OTHER_APIS: Final[Mapping[str, str]] = {
    "openai.realtime": "the Realtime API",
    "openai.assistants": "the Assistants API",
}
"""Those that people know by another name."""
