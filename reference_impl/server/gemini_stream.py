"""generateContent: engine events become chunks, and a body puts the chunks together.

Rule 1: a part is a thought, a text or a whole call; thoughts are sent to who asked for them, and
        counted in any case, in the last chunk.
Rule 2: the first call of an answer is signed; where there is none, the last part is, if the model
        was to think.
Rule 3: the last chunk has the reason; a call ends with STOP, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .engine import Finish, ToolCall, Usage
from .projection import AnswerBody, AnswerProjection, call_arguments
from .refusal import Refusal, google_error
from .stamp import Stamp
from .wire import Wire

SIGNATURE: Final = "cmVmZXJlbmNlIHRob3VnaHQgc2lnbmF0dXJl"
"""What stands for a signature here: the server keeps nothing, and knows its own again."""


class GeminiStream(AnswerProjection):
    def __init__(self, model: str, stamp: Stamp, *, thinks: bool, shows: bool) -> None:
        super().__init__()
        self._model = model
        self._response = stamp.new("")
        self._thinks = thinks
        self._shows = shows
        self._called = False

    def _think(self, text: str) -> Iterator[Wire]:
        if self._shows:
            yield self._chunk({"text": text, "thought": True})

    def _say(self, text: str) -> Iterator[Wire]:
        yield self._chunk({"text": text})

    def _fail(self, refusal: Refusal) -> Iterator[Wire]:
        yield Wire(google_error(refusal))

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        arguments = call_arguments(call.arguments)
        signed = {} if self._called else {"thoughtSignature": SIGNATURE}
        self._called = True
        yield self._chunk({"functionCall": {"name": call.name, "args": arguments}, **signed})

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        is_signed = self._thinks and not self._called
        signed = {"thoughtSignature": SIGNATURE} if is_signed else {}
        reason = "MAX_TOKENS" if finish.reason == "length" else "STOP"
        last = self._chunk({"text": "", **signed}, reason)
        assert not isinstance(last.data, str)
        yield Wire({**last.data, "usageMetadata": _counts(finish.usage)})

    def _chunk(self, part: Mapping[str, Any], reason: str = "") -> Wire:
        candidate: dict[str, Any] = {"content": {"parts": [part], "role": "model"}, "index": 0}
        if reason:
            candidate["finishReason"] = reason
        head = {"modelVersion": self._model, "responseId": self._response}
        return Wire({"candidates": [candidate], **head})


def _counts(usage: Usage) -> dict[str, int]:
    thoughts = usage.reasoning
    counts = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.completion - thoughts,
        **({"thoughtsTokenCount": thoughts} if thoughts else {}),
    }
    return {**counts, "totalTokenCount": usage.prompt + usage.completion}


class GeminiBody(AnswerBody):
    """Adjacent texts of a kind are one part, unless the second one is signed."""

    def __init__(self) -> None:
        super().__init__(google_error)
        self._parts: list[dict[str, Any]] = []
        self._last: Mapping[str, Any] = {}

    def _add(self, _: str, chunk: Mapping[str, Any]) -> None:
        self._last = chunk
        self._error = chunk if "error" in chunk else None
        for candidate in chunk.get("candidates", ()):
            for part in candidate["content"]["parts"]:
                self._add_part(part)

    def _add_part(self, part: Mapping[str, Any]) -> None:
        before = self._parts[-1] if self._parts else {}
        is_text = "text" in part and "text" in before
        if is_text and part.get("thought") == before.get("thought"):
            self._parts[-1] = {**before, **part, "text": before["text"] + part["text"]}
        elif part != {"text": ""}:
            self._parts.append(dict(part))

    def _whole(self) -> dict[str, Any]:
        (candidate,) = self._last["candidates"]
        content = {"parts": self._parts, "role": "model"}
        return {**self._last, "candidates": [{**candidate, "content": content}]}
