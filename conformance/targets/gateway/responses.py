"""Scripted answers in Responses.

A summary comes with the answer where the request asks for one, as at the API itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.targets.gateway.said import (
    ARGUMENTS,
    BROKEN,
    INPUT,
    MODEL,
    OUTPUT,
    THINKING,
    TOOL,
    WORDS,
    cut,
    event,
    heard,
    said,
    shows_thinking,
    summary,
    thought,
)

Fields = dict[str, Any]
Told = tuple[str, Fields]
_STATUS: Final = {"length": "incomplete", "error": "failed", "no-finish": "in_progress"}


def error(script: str) -> Fields:
    """The error that a script speaks of."""
    kind = "invalid_request_error" if script == "refused" else "server_error"
    return {"error": {"message": WORDS[script], "type": kind, "param": None, "code": None}}


def streamed(script: str, number: int, asked: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of an answer, each with its place in the stream."""
    for at, (kind, fields) in enumerate(_events(script, number, asked)):
        yield event({"type": kind, "sequence_number": at, **fields}, name=kind)


def whole(script: str, number: int, asked: Mapping[str, Any]) -> Fields:
    """The answer as one body."""
    return _response(script, number, asked, _items(script, number, asked))


def _events(script: str, number: int, asked: Mapping[str, Any]) -> Iterator[Told]:
    begun = _response("no-finish", number, asked, ())
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    items = _items(script, number, asked)
    for index, item in enumerate(items):
        is_open = script in BROKEN and index == len(items) - 1
        for kind, fields in _life(item, is_open=is_open):
            yield kind, {"output_index": index, **fields}
    if script not in ("cut", "no-finish"):
        response = _response(script, number, asked, items)
        yield f"response.{response['status']}", {"response": response}


def _items(script: str, number: int, asked: Mapping[str, Any]) -> list[Fields]:
    """The items as they are at the end; what breaks off, and where."""
    parts = [{"type": "summary_text", "text": summary(number)}] if _summarises(asked) else []
    content = [{"type": "reasoning_text", "text": thought(number)}]
    thinking = {"id": f"rs_{number}", "type": "reasoning", "summary": parts, "content": content}
    if script == "tools":
        named = {"call_id": f"call_{number}", "name": TOOL, "arguments": ARGUMENTS}
        call = {"id": f"fc_{number}", "type": "function_call", "status": "completed", **named}
        return [thinking, call]
    text = "".join(heard(script, number)) if script in BROKEN else said(number)
    status = "incomplete" if script in {*BROKEN, "length"} else "completed"
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status}
    return [*([thinking] if shows_thinking(script) else ()), {**message, "content": [_text(text)]}]


def _life(item: Fields, *, is_open: bool) -> Iterator[Told]:
    """The events of one item; what stays open says how far it came and no more."""
    begun = {"arguments": "", "summary": [], "content": [], "status": "in_progress"}
    fresh = {key: begun.get(key, value) for key, value in item.items()}
    yield "response.output_item.added", {"item": fresh}
    told = [each for life in (_content, _summary, _arguments) for each in life(item)]
    last = max((n for n, (kind, _) in enumerate(told) if kind.endswith(".delta")), default=0)
    for kind, fields in told[: last + 1] if is_open else told:
        yield kind, {"item_id": item["id"], **fields}
    if not is_open:
        yield "response.output_item.done", {"item": item}


def _content(item: Fields) -> Iterator[Told]:
    for part in item.get("content", ()):
        at = {"content_index": 0}
        kind = part["type"]
        more: Fields = {"logprobs": []} if kind == "output_text" else {}
        yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
        for piece in cut(part["text"]):
            yield f"response.{kind}.delta", {**at, "delta": piece, **more}
        yield f"response.{kind}.done", {**at, "text": part["text"], **more}
        yield "response.content_part.done", {**at, "part": part}


def _summary(item: Fields) -> Iterator[Told]:
    for part in item.get("summary", ()):
        at = {"summary_index": 0}
        kind = "response.reasoning_summary"
        yield f"{kind}_part.added", {**at, "part": {**part, "text": ""}}
        for piece in cut(part["text"]):
            yield f"{kind}_text.delta", {**at, "delta": piece}
        yield f"{kind}_text.done", {**at, "text": part["text"]}
        yield f"{kind}_part.done", {**at, "part": part}


def _arguments(item: Fields) -> Iterator[Told]:
    if "arguments" in item:
        kind = "response.function_call_arguments"
        for piece in cut(item["arguments"]):
            yield f"{kind}.delta", {"delta": piece}
        yield f"{kind}.done", {"arguments": item["arguments"]}


def _response(
    script: str, number: int, asked: Mapping[str, Any], items: Sequence[Fields]
) -> Fields:
    status = _STATUS.get(script, "completed")
    is_over = status in ("completed", "incomplete")
    reason = {"reason": "max_output_tokens"} if status == "incomplete" else None
    failure = {"code": "server_error", "message": WORDS["error"]} if status == "failed" else None
    return {
        "id": f"resp_scripted_{number}",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": failure,
        "incomplete_details": reason,
        "model": MODEL,
        "output": list(items),
        "reasoning": _reasoning(asked),
        "usage": _usage() if is_over else None,
    }


def _usage() -> Fields:
    return {
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": THINKING},
        "total_tokens": INPUT + OUTPUT,
    }


def _text(text: str) -> Fields:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _reasoning(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted = asked.get("reasoning")
    return wanted if isinstance(wanted, Mapping) else {}


def _summarises(asked: Mapping[str, Any]) -> bool:
    return _reasoning(asked).get("summary") not in (None, "none")
