"""Files as programs write them; what lies in `saved/` is of curl 7.88.1 and mitmproxy 11.0.2.

Both asked one small server.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SAVED = Path(__file__).parent / "saved"
BODY = (SAVED / "curl-i.txt").read_bytes().partition(b"\r\n\r\n")[2]
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
LAST = {"object": "chat.completion.chunk", "choices": [{"delta": {}, "finish_reason": "stop"}]}


def stored(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def entry(url: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = {"mimeType": "text/event-stream", **({} if text is None else {"text": text}), **more}
    response = {"status": 200, "httpVersion": "h2", "headers": [], "content": content}
    headers = [{"name": ":path", "value": "/"}, {"name": "accept", "value": "*/*"}]
    request = {"method": "POST", "url": url, "headers": headers}
    return {"request": request, "response": response, "timings": {"wait": 12.5}}


def archive(*entries: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": entries}})


def timed(stamps: list[Any], wrap: Callable[[Any], Any], key: str = "ts") -> str:
    chunks = [CHUNK, LAST, "[DONE]"]
    return "".join(
        json.dumps({key: stamp, "chunk": wrap(chunk)}) + "\n"
        for stamp, chunk in zip(stamps, chunks, strict=True)
    )


def as_event(chunk: Any) -> str:
    return f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n"


def netstring(value: Any) -> bytes:
    if isinstance(value, dict):
        data, kind = b"".join(netstring(k) + netstring(v) for k, v in value.items()), b"}"
    elif isinstance(value, list):
        data, kind = b"".join(map(netstring, value)), b"]"
    elif value is None:
        data, kind = b"", b"~"
    elif isinstance(value, bool):
        data, kind = str(value).lower().encode(), b"!"
    elif isinstance(value, int):
        data, kind = str(value).encode(), b"#"
    elif isinstance(value, float):
        data, kind = str(value).encode(), b"^"
    elif isinstance(value, str):
        data, kind = value.encode(), b";"
    else:
        data, kind = value, b","
    return b"%d:%b%b" % (len(data), data, kind)
