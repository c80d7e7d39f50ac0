"""What a model was given, as telemetry keeps it: it is never sent to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.otel_genai.vocabulary import GIVEN
from conformance.dialects.requests import Continuation, Question, RequestForm
from conformance.dialects.turns import HistoryEntry, HistoryForm, blocks_entry, history_call, listed


def _ask_body(question: Question) -> dict[str, Any]:
    part = {"type": "text", "content": question.text}
    return {GIVEN: [{"role": "user", "parts": [part]}], "request_max_tokens": question.limit}


def _next_turns(after: Continuation) -> list[Any]:
    parts = [{"type": "text", "content": after.question}]
    return [{"role": "user", "parts": parts}] if after.question else []


def _definitions(body: Mapping[str, Any]) -> Any:
    return body.get("tool_definitions")


def _read_entry(entry: Any) -> HistoryEntry:
    fields = mapping(entry)
    parts = objects(fields.get("parts"))
    return blocks_entry(
        fields.get("role"),
        (string(part.get("content")) for part in parts if part.get("type") == "text"),
        (
            history_call(part.get("id"), part.get("name"), part.get("arguments"))
            for part in parts
            if part.get("type") == "tool_call"
        ),
        (string(part.get("id")) for part in parts if part.get("type") == "tool_call_response"),
    )


REQUEST: Final = RequestForm(
    history=GIVEN,
    limits=("request_max_tokens",),
    ask=_ask_body,
    next_turns=_next_turns,
    # An attribute says that the call was streamed; what is kept of it is whole either way.
    streams=lambda _body: False,
    tools=_definitions,
)
TURNS: Final = HistoryForm(GIVEN, listed(GIVEN), _read_entry, thread=("conversation_id",))
