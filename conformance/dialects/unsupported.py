"""Dialects that are recognised but have no reader, so that a stream of one is named.

What passes between the parts of one process is no wire, and gets none: its marks are here, so that
who wrote it to a file learns it. Marks are structural: a key or a type that no other dialect uses.
Errors, `[DONE]` and other payloads that several dialects share name none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from conformance.dialects.json_edge import elements, mapping, string


def _is_text_completion(fields: dict[str, Any]) -> bool:
    return fields.get("object") in COMPLETIONS


def is_on_your_data(fields: dict[str, Any]) -> bool:
    """Azure OpenAI On Your Data of 2023: a choice holds a list of messages, each with its delta.

    Its chunks call themselves chat.completion (API version 2023-06-01-preview, extensions).
    """
    return any(
        isinstance(mapping(choice).get("messages"), list)
        for choice in elements(fields.get("choices"))
    )


def _is_assistants_event(fields: dict[str, Any]) -> bool:
    kind = string(fields.get("object")) or ""
    return kind == "thread" or kind.startswith(("thread.run", "thread.message"))


def _is_claude_completion(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "completion" and isinstance(fields.get("completion"), str)


def _is_dashscope(fields: dict[str, Any]) -> bool:
    """DashScope's own API: an answer lies below `output`, next to the id of the request."""
    output = mapping(fields.get("output"))
    is_answer = isinstance(output.get("choices"), list) or isinstance(output.get("text"), str)
    return is_answer and isinstance(fields.get("request_id"), str)


def _is_workers_ai(fields: dict[str, Any]) -> bool:
    """Cloudflare's own API: pieces with padding `p`, or a body in the envelope of its platform."""
    if isinstance(fields.get("response"), str) and isinstance(fields.get("p"), str):
        return True
    is_enveloped = isinstance(fields.get("success"), bool) and isinstance(
        fields.get("errors"), list
    )
    return is_enveloped and "response" in mapping(fields.get("result"))


def _is_agents_event(fields: dict[str, Any]) -> bool:
    return string(fields.get("type")) in _OF_AGENTS


def _is_pi_event(fields: dict[str, Any]) -> bool:
    return string(fields.get("type")) in _OF_PI


def _is_model_part(fields: dict[str, Any]) -> bool:
    """What a provider hands to the AI SDK: its parts have the names of the UI message stream.

    There a call has a `toolCallId`, and an end says its reason in one word.
    """
    kind = string(fields.get("type"))
    if kind == "stream-start":
        return isinstance(fields.get("warnings"), list)
    if kind == "finish":
        return "unified" in mapping(fields.get("finishReason"))
    is_input = kind in _MODEL_INPUTS and isinstance(fields.get("id"), str)
    return is_input and "toolCallId" not in fields


def _is_cursor_line(fields: dict[str, Any]) -> bool:
    """The CLI of Cursor, whose `stream-json` shares most types with that of Claude Code.

    A call and a thought are separate lines, and the key has one of three sources
    (https://cursor.com/docs/cli/reference/output-format).
    """
    kind = string(fields.get("type"))
    if kind == "tool_call":
        return isinstance(fields.get("tool_call"), dict)
    if kind == "thinking":
        return fields.get("subtype") in ("delta", "completed")
    is_opening = kind == "system" and fields.get("subtype") == "init"
    return is_opening and fields.get("apiKeySource") in _CURSOR_KEYS and "tools" not in fields


def _is_droid_line(fields: dict[str, Any]) -> bool:
    """Droid of Factory, whose `stream-json` begins as that of Claude Code.

    Texts are in the lines themselves, and the last line is a completion
    (ten programs that read it, 2025-11 to 2026-10; https://docs.factory.ai/cli/droid-exec/overview).
    """
    kind = string(fields.get("type"))
    if kind == "completion":
        return isinstance(fields.get("finalText"), str)
    is_call = kind == "tool_call" and isinstance(fields.get("toolName"), str)
    is_text = kind in _OF_DROID and isinstance(fields.get("text"), str)
    return (is_call or is_text) and isinstance(fields.get("session_id"), str)


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


def _is_second_acp(fields: dict[str, Any]) -> bool:
    """Version 2 was agreed on, or an update is of a kind that it alone has."""
    agreed = mapping(fields.get("result")).get("protocolVersion")
    update = mapping(mapping(fields.get("params")).get("update"))
    return agreed == _SECOND or string(update.get("sessionUpdate")) in _OF_SECOND_ACP


_SECOND: Final = 2
_OF_SECOND_ACP: Final = frozenset(
    {"state_update", "agent_message", "agent_thought", "tool_call_content_chunk"}
)
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
_OF_DROID: Final = ("message", "reasoning")
_CURSOR_KEYS: Final = ("env", "flag", "login")
_MODEL_INPUTS: Final = ("tool-input-start", "tool-input-delta", "tool-input-end")
UNSUPPORTED: Final[Mapping[str, Callable[[dict[str, Any]], bool]]] = {
    "openai.completions": _is_text_completion,
    "openai.assistants": _is_assistants_event,
    "azure.on-your-data": is_on_your_data,
    "anthropic.complete": _is_claude_completion,
    "model-studio": _is_dashscope,
    "cloudflare.workers-ai": _is_workers_ai,
    "openai-agents": _is_agents_event,
    "pi-agent": _is_pi_event,
    "ai-sdk.model": _is_model_part,
    "cursor.cli": _is_cursor_line,
    "droid.cli": _is_droid_line,
    "openai.realtime": is_realtime,
    "acp.v2": _is_second_acp,
}
IN_PROCESS: Final[Mapping[str, str]] = {
    "openai-agents": "stream events of the OpenAI Agents SDK",
    "pi-agent": "events of the agent pi",
    "ai-sdk.model": "parts that a model of the AI SDK streams",
}
"""Those among them that are no wire -> what they are."""


class Lookalike(NamedTuple):
    """A dialect without a reader that begins as another one: only later payloads differ."""

    name: str
    marks: tuple[bytes, ...]
    """A stream of it has one of these somewhere."""
    claims: Callable[[dict[str, Any]], bool]


LOOKALIKES: Final[Mapping[str, tuple[Lookalike, ...]]] = {
    "acp": (
        Lookalike(
            "acp.v2",
            (
                *(b'"state_update"', b'"protocolVersion":2', b'"protocolVersion": 2'),
                b'"agent_message"',
            ),
            _is_second_acp,
        ),
    ),
    "claude.stream-json": (
        Lookalike(
            "cursor.cli", (b'"tool_call"', b'"apiKeySource"', b'"thinking"'), _is_cursor_line
        ),
        Lookalike("droid.cli", (b'"finalText"', b'"toolName"', b'"text"'), _is_droid_line),
    ),
    "vercel.ui": (
        Lookalike("ai-sdk.model", (b'"warnings"', b'"unified"', b'"tool-input-'), _is_model_part),
    ),
}
"""By the dialect that the first payload shows."""


def named(payload: Any) -> str | None:
    """Name of the dialect without a reader that the payload belongs to."""
    fields = mapping(payload)
    return next((name for name, claims in UNSUPPORTED.items() if claims(fields)), None)


OTHER_APIS: Final[Mapping[str, str]] = {
    "openai.realtime": "the Realtime API",
    "openai.assistants": "the Assistants API",
    "azure.on-your-data": "the API of Azure OpenAI On Your Data of 2023",
    "model-studio": "DashScope's own API",
    "cloudflare.workers-ai": "the own API of Cloudflare Workers AI",
    "cursor.cli": "what the CLI of Cursor writes (stream-json)",
    "droid.cli": "what Factory's Droid writes (stream-json)",
}
"""Those that people know by another name."""
