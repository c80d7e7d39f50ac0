"""A chat service that thinks aloud: FastAPI, and no model behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

THINKING = ("Seven days", " make a week,", " two weeks are fourteen.")
TEXT = ("Fourteen", " days.")
USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 12,
    "total_tokens": 19,
    "completion_tokens_details": {"reasoning_tokens": 9},
}
HEAD = {"id": "chatcmpl-sample", "object": "chat.completion.chunk", "created": 1795176000}


def events(asked: dict[str, Any]) -> Iterator[bytes]:
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


async def chat(request: Request) -> Response:
    asked = await request.json()
    return StreamingResponse(events(asked), media_type="text/event-stream")


app = FastAPI()
app.add_api_route("/v1/chat/completions", chat, methods=["POST"], response_model=None)
