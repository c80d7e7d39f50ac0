"""A server that is asked by one prompt, in the API of TGI or of SGLang, as an ASGI application."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from conformance.dialects import ENDPOINTS, get, required
from conformance.dialects.script import CONTENT_TYPES, ScriptedAnswer, encode_stream
from tests.fakes.chatty import Message, Receive, Send

_PROMPTS: Final = {"huggingface.tgi": "inputs", "sglang.generate": "text"}
_CUT: Final = 16  # tokens
_LONG: Final = "1, 2, 3, 4, 5, 6, and so on, " * 3  # of more than those
_JSON: Final = "application/json"


@dataclass
class Prompted:
    """It thinks and answers; `loses` is the number of an event, from the last one, that is lost."""

    dialect: str
    loses: int = 0
    asked: list[tuple[str, Any]] = field(default_factory=list)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError
        body = json.loads((await receive())["body"] or b"{}")
        self.asked.append((scope["path"], body))
        status, kind, data = self._answer(scope["path"], body)
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    def _answer(self, path: str, body: Any) -> tuple[int, str, bytes]:
        endpoint, script = ENDPOINTS[self.dialect], required(get(self.dialect).script, "", "")
        if not endpoint.serves(path):
            return 404, _JSON, b"{}"
        if not isinstance(body.get(_PROMPTS[self.dialect]), str):
            error = script.error("expected a prompt", is_refusal=True)
            return 422, _JSON, json.dumps(error).encode()
        wish = script.wishes.read(body)
        answer = ScriptedAnswer("answer", 1, "Two and two.", "It is 4.")
        if required(get(self.dialect).request, "", "").limit(body) == _CUT:
            answer = replace(answer, word="length", text=_LONG)
        if wish.schema is not None:
            answer = replace(answer, text='{"answer": "4"}')
        streams = endpoint.stated(path).get("stream", body.get("stream"))
        if not streams:
            return 200, _JSON, json.dumps(script.body(answer, body)).encode()
        events = list(encode_stream(script.stream(answer, body), "sse"))
        if self.loses:
            del events[-self.loses]
        return 200, CONTENT_TYPES["sse"], b"".join(events)
