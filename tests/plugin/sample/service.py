"""A service that thinks aloud, by two APIs: FastAPI, and no model behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

THINKING = ("Seven days", " make a week,", " two weeks are fourteen.")
TEXT = ("Fourteen", " days.")
USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 12,
    "total_tokens": 19,
    "completion_tokens_details": {"reasoning_tokens": 9},
}
HEAD = {"id": "chatcmpl-sample", "object": "chat.completion.chunk", "created": 1795176000}
MESSAGE: dict[str, Any] = {
    "id": "msg_sample",
    "type": "message",
    "role": "assistant",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 7, "output_tokens": 1},
}
COUNTED = {"output_tokens": 12, "output_tokens_details": {"thinking_tokens": 9}}


def chunks(asked: dict[str, Any]) -> Iterator[bytes]:
    """The stream of a chat completion."""

    def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
        payload = {**HEAD, "model": asked["model"], "choices": choices, **more}
        return f"data: {json.dumps(payload)}\n\n".encode()

    def delta(fields: dict[str, str], finish: str | None = None) -> bytes:
        return chunk([{"index": 0, "delta": fields, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    yield from (delta({"reasoning_content": part}) for part in THINKING)
    yield from (delta({"content": part}) for part in TEXT)
    yield delta({}, "stop")
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield chunk([], usage=USAGE)
    yield b"data: [DONE]\n\n"


def events(asked: dict[str, Any]) -> Iterator[bytes]:
    """The stream of a message."""

    def event(type_: str, **fields: Any) -> bytes:
        payload = {"type": type_, **fields}
        return f"event: {type_}\ndata: {json.dumps(payload)}\n\n".encode()

    def block(index: int, empty: dict[str, str], deltas: list[dict[str, str]]) -> Iterator[bytes]:
        yield event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)

    thoughts = [{"type": "thinking_delta", "thinking": part} for part in THINKING]
    signed = {"type": "signature_delta", "signature": "c2FtcGxl"}
    yield event("message_start", message={**MESSAGE, "model": asked["model"]})
    empty = {"type": "thinking", "thinking": "", "signature": ""}
    yield from block(0, empty, [*thoughts, signed])
    words = [{"type": "text_delta", "text": part} for part in TEXT]
    yield from block(1, {"type": "text", "text": ""}, words)
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage=COUNTED)
    yield event("message_stop")


def completion(asked: dict[str, Any]) -> dict[str, Any]:
    """The same as a whole body."""
    turn = {"role": "assistant", "content": "".join(TEXT), "reasoning_content": "".join(THINKING)}
    choices = [{"index": 0, "message": turn, "finish_reason": "stop"}]
    whole = {**HEAD, "object": "chat.completion", "model": asked["model"]}
    return {**whole, "choices": choices, "usage": USAGE}


def message(asked: dict[str, Any]) -> dict[str, Any]:
    """The message as a whole body."""
    thought = {"type": "thinking", "thinking": "".join(THINKING), "signature": "c2FtcGxl"}
    content = [thought, {"type": "text", "text": "".join(TEXT)}]
    usage = {**MESSAGE["usage"], **COUNTED}
    ended = {"stop_reason": "end_turn", "usage": usage}
    return {**MESSAGE, "model": asked["model"], "content": content, **ended}


async def chat(request: Request) -> Response:
    asked = await request.json()
    if not asked.get("stream"):
        return JSONResponse(completion(asked))
    return StreamingResponse(chunks(asked), media_type="text/event-stream")


async def messages(request: Request) -> Response:
    asked = await request.json()
    if not asked.get("stream"):
        return JSONResponse(message(asked))
    return StreamingResponse(events(asked), media_type="text/event-stream")


app = FastAPI()
app.add_api_route("/v1/chat/completions", chat, methods=["POST"], response_model=None)
app.add_api_route("/v1/messages", messages, methods=["POST"], response_model=None)
