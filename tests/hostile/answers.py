"""What hostile servers answer: pieces of HTTP that are put together wrongly."""

from __future__ import annotations

import gzip
import json
from typing import Final

from tests.fakes.hostile import CHUNK, LAST, Behaviour, Writer, chunked, head, whole

ESCAPES: Final = "\x1b]0;owned\x07\x1b[2J\u202e\n\r\nFAIL"
_OPENING: Final = b'{"role":"assistant","content":"","reasoning_content":"so"}'
_USAGE: Final = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\n'
)
_DONE: Final = b"data: [DONE]\n\n"
GOOD: Final = (
    CHUNK.replace(b'{"content":"x"}', _OPENING) + CHUNK + LAST.removesuffix(_DONE) + _USAGE + _DONE
)
JSON: Final = "application/json"


def fields(*lines: str, status: str = "200 OK") -> bytes:
    """A head of an event stream with more fields, spelled as they are given."""
    more = "".join(f"{line}\r\n" for line in lines)
    return f"HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\n{more}\r\n".encode()


def framed(*lines: str, body: bytes = GOOD) -> Behaviour:
    """A stream that is whole, behind a head with these fields."""
    return whole(fields(*lines) + body)


def coded(body: bytes) -> Behaviour:
    """A body that is sent as the chunked coding, whatever it is."""
    return whole(head(transfer_encoding="chunked") + body)


def flooding(piece: bytes, first: bytes = b"") -> Behaviour:
    """Sends this for ever, in writes of some size."""
    pieces = piece * max(1, 60_000 // len(piece))

    async def behave(writer: Writer) -> None:
        writer.write(first or head())
        while True:
            writer.write(pieces)
            await writer.drain()

    return behave


def numbered(template: bytes) -> Behaviour:
    """Sends the template with one number after the other, for ever."""

    async def behave(writer: Writer) -> None:
        writer.write(head())
        number = 0
        while True:
            writer.write(b"".join(template % each for each in range(number, number + 1000)))
            await writer.drain()
            number += 1000

    return behave


def event(payload: object) -> bytes:
    return f"data: {json.dumps(payload)}\n\n".encode()


def choice(content: object, **more: object) -> bytes:
    """A chunk of Chat Completions with this content."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return event({**chunk, "choices": [one_choice(content)], **more})


def one_choice(content: object, index: int = 0) -> dict[str, object]:
    delta = {"role": "assistant", "content": content}
    return {"index": index, "delta": delta, "finish_reason": None}


def streamed(*events: bytes) -> Behaviour:
    """A chunked stream of these events, and its end."""
    return whole(chunked(*events, LAST))


def error(status: str, message: str = "no", **more: str) -> Behaviour:
    body = json.dumps({"error": {"message": message, "type": "x", "code": None}}).encode()
    return whole(head(status, kind=JSON, **more) + body)


def body(data: bytes, **more: str) -> Behaviour:
    """A JSON body, or what is said to be one."""
    return whole(head(kind=JSON, **more) + data)


def models(count: int, name: str = "m%d", indent: int | None = None) -> bytes:
    """A list of models."""
    data = [{"id": name % at if "%d" in name else name, "object": "model"} for at in range(count)]
    return json.dumps({"object": "list", "data": data}, indent=indent).encode()


def zipped(data: bytes, *, keep: float = 1.0) -> bytes:
    packed = gzip.compress(data)
    return packed[: int(len(packed) * keep)]
