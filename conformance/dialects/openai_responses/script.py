"""Scripted answers in Responses.

A summary comes with the answer where the request asks for one, as at the API itself. A model that
is named as one of its own shows nothing else of its thinking (no `reasoning_text` in 10 of 10
recordings of such models); others show all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.dialects.json_edge import mapping
from conformance.dialects.openai_chat.script import error_body
from conformance.dialects.personas import OPENAI_MODEL
from conformance.dialects.script import (
    MODEL,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedEvent,
    pieces_of,
)
from conformance.dialects.wishes import WishForm

Fields = dict[str, Any]
_Typed = tuple[str, Fields]  # type of an event, and its other fields
_STATUS: Final = {"length": "incomplete", "error": "failed", "no-finish": "in_progress"}


def _stream_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[ScriptedEvent]:
    for at, (kind, fields) in enumerate(_answer_events(answer, request)):
        yield kind, {"type": kind, "sequence_number": at, **fields}


def _whole_body(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Fields:
    return _closed_response(answer, request, _answer_items(answer, request))


def _answer_events(answer: ScriptedAnswer, request: Mapping[str, Any]) -> Iterator[_Typed]:
    begun = _closed_response(replace(answer, word="no-finish"), request, ())
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    items = _answer_items(answer, request)
    for index, item in enumerate(items):
        is_open = answer.is_broken and index == len(items) - 1
        for kind, fields in _item_events(item, is_open=is_open):
            yield kind, {"output_index": index, **fields}
    if answer.word not in ("cut", "no-finish"):
        response = _closed_response(answer, request, items)
        yield f"response.{response['status']}", {"response": response}


def _answer_items(answer: ScriptedAnswer, request: Mapping[str, Any]) -> list[Fields]:
    """The items as they are at the end; what breaks off, and where."""
    wanted = mapping(request.get("reasoning")).get("summary") not in (None, "none")
    parts = [{"type": "summary_text", "text": answer.summary}] if wanted else []
    shown = {"content": [{"type": "reasoning_text", "text": answer.thinking}]}
    if OPENAI_MODEL.match(str(request.get("model", ""))):
        shown = {}
    named = {"id": f"rs_{answer.mark}", "type": "reasoning"}
    sealed = {"encrypted_content": answer.signature} if answer.is_sealed else {}
    thinking = [{**named, "summary": parts, **shown, **sealed}] * bool(answer.thinking)
    if answer.calls:
        return [*thinking, *map(_call_item, answer.calls)]
    text = "".join(answer.text_pieces())
    status = "incomplete" if answer.is_broken or answer.word == "length" else "completed"
    named = {"id": f"msg_{answer.mark}", "type": "message", "role": "assistant"}
    spoken = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return [*thinking, {**named, "status": status, "content": [spoken]}]


def _call_item(call: ScriptedCall) -> Fields:
    status = "incomplete" if call.breaks_off else "completed"
    named = {"id": f"fc_{call.mark}", "type": "function_call", "status": status}
    called = {"call_id": f"call_{call.mark}", "name": call.tool, "arguments": "".join(call.pieces)}
    return {**named, **called}


def _item_events(item: Fields, *, is_open: bool) -> Iterator[_Typed]:
    """The events of one item; what stays open says how far it came and no more."""
    begun = {"arguments": "", "summary": [], "content": [], "status": "in_progress"}
    fresh = {key: begun.get(key, value) for key, value in item.items()}
    yield "response.output_item.added", {"item": fresh}
    events = [
        each for part in (_content_events, _summary_events, _argument_events) for each in part(item)
    ]
    last = max((n for n, (kind, _) in enumerate(events) if kind.endswith(".delta")), default=0)
    for kind, fields in events[: last + 1] if is_open else events:
        yield kind, {"item_id": item["id"], **fields}
    if not is_open:
        yield "response.output_item.done", {"item": item}


def _content_events(item: Fields) -> Iterator[_Typed]:
    for part in item.get("content", ()):
        at = {"content_index": 0}
        kind = part["type"]
        more: Fields = {"logprobs": []} if kind == "output_text" else {}
        yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
        for piece in pieces_of(part["text"]):
            yield f"response.{kind}.delta", {**at, "delta": piece, **more}
        yield f"response.{kind}.done", {**at, "text": part["text"], **more}
        yield "response.content_part.done", {**at, "part": part}


def _summary_events(item: Fields) -> Iterator[_Typed]:
    for part in item.get("summary", ()):
        at = {"summary_index": 0}
        kind = "response.reasoning_summary"
        yield f"{kind}_part.added", {**at, "part": {**part, "text": ""}}
        for piece in pieces_of(part["text"]):
            yield f"{kind}_text.delta", {**at, "delta": piece}
        yield f"{kind}_text.done", {**at, "text": part["text"]}
        yield f"{kind}_part.done", {**at, "part": part}


def _argument_events(item: Fields) -> Iterator[_Typed]:
    if "arguments" in item:
        kind = "response.function_call_arguments"
        for piece in pieces_of(item["arguments"]):
            yield f"{kind}.delta", {"delta": piece}
        yield f"{kind}.done", {"arguments": item["arguments"]}


def _closed_response(
    answer: ScriptedAnswer, request: Mapping[str, Any], items: Sequence[Fields]
) -> Fields:
    status = _STATUS.get(answer.word, "completed")
    is_over = status in ("completed", "incomplete")
    reason = {"reason": "max_output_tokens"} if status == "incomplete" else None
    failure = {"code": "server_error", "message": answer.error} if status == "failed" else None
    return {
        "id": f"resp_scripted_{answer.mark}",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": failure,
        "incomplete_details": reason,
        "model": MODEL,
        "output": list(items),
        "reasoning": mapping(request.get("reasoning")),
        "usage": _usage_object(answer) if is_over else None,
    }


def _usage_object(answer: ScriptedAnswer) -> Fields:
    given, written, thinking = answer.tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thinking},
        "total_tokens": given + written,
    }


SCRIPT: Final = Script(
    _stream_events,
    _whole_body,
    error_body,
    WishForm(
        schemas=("text.format.schema",),
        json="text.format.type",
        names=("tool_choice.name",),
        sealed=("include", "reasoning.encrypted_content"),
    ),
)
