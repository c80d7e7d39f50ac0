"""Converse: the events of a Messages stream in this API's words, and a body put together of them.

Rule 1: text and thinking are not announced; the first delta begins their block.
Rule 2: a delta has one member; the signature comes in an event of its own.
Rule 3: redacted data is base64 of what the model's own API has as text.
Rule 4: `messageStop` says why, `metadata` counts, and that is the end. A failure is raised.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from .messages_stream import MessagesStream
from .projection import AnswerBody, call_arguments
from .refusal import message_error
from .stamp import Stamp
from .summary import AnswerEvent
from .wire import Wire

_MEMBERS: Final = {
    "text_delta": ("text", ("text",)),
    "thinking_delta": ("thinking", ("reasoningContent", "text")),
    "signature_delta": ("signature", ("reasoningContent", "signature")),
    "input_json_delta": ("partial_json", ("toolUse", "input")),
}
"""Type of a delta -> its field, and where that stands here."""


class ConverseStream:
    def __init__(self, inner: MessagesStream, stamp: Stamp) -> None:
        self._inner = inner
        self._stamp = stamp
        self._asked_at = stamp.clock()
        self._usage: Mapping[str, Any] = {}

    @property
    def is_over(self) -> bool:
        return self._inner.is_over

    def opening(self) -> Iterable[Wire]:
        return self._as_converse(self._inner.opening())

    def feed(self, event: AnswerEvent) -> Iterable[Wire]:
        return self._as_converse(self._inner.feed(event))

    def fail(self, message: str) -> Iterable[Wire]:
        return self._as_converse(self._inner.fail(message))

    def _as_converse(self, wires: Iterable[Wire]) -> Iterator[Wire]:
        for wire in wires:
            assert not isinstance(wire.data, str)
            yield from self._translated(wire.event, wire.data)

    def _translated(self, kind: str, data: Mapping[str, Any]) -> Iterator[Wire]:
        place = {"contentBlockIndex": data.get("index")}
        match kind:
            case "message_start":
                yield Wire({"role": "assistant"}, "messageStart")
            case "content_block_start":
                yield from self._started(place, data["content_block"])
            case "content_block_delta":
                yield Wire({**place, "delta": _member(data["delta"])}, "contentBlockDelta")
            case "content_block_stop":
                yield Wire(place, "contentBlockStop")
            case "message_delta":
                self._usage = data["usage"]
                yield Wire({"stopReason": data["delta"]["stop_reason"]}, "messageStop")
            case "message_stop":
                yield Wire(self._metadata(), "metadata")
            case "error":
                yield Wire({"message": data["error"]["message"]}, "modelStreamErrorException")

    def _started(self, place: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Wire]:
        if block["type"] == "tool_use":
            start = {"toolUse": {"toolUseId": block["id"], "name": block["name"]}}
            yield Wire({**place, "start": start}, "contentBlockStart")
        elif block["type"] == "redacted_thinking":
            data = base64.b64encode(block["data"].encode()).decode()
            delta = {"reasoningContent": {"redactedContent": data}}
            yield Wire({**place, "delta": delta}, "contentBlockDelta")

    def _metadata(self) -> dict[str, Any]:
        given, said = self._usage["input_tokens"], self._usage["output_tokens"]
        usage = {"inputTokens": given, "outputTokens": said, "totalTokens": given + said}
        took = int((self._stamp.clock() - self._asked_at) * 1000)
        return {"usage": usage, "metrics": {"latencyMs": took}}


def _member(delta: Mapping[str, Any]) -> dict[str, Any]:
    field, path = _MEMBERS[delta["type"]]
    made: Any = delta[field]
    for key in reversed(path):
        made = {key: made}
    return dict(made)


class ConverseBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(message_error)
        self._blocks: dict[int, list[Mapping[str, Any]]] = {}
        self._ended: dict[str, Any] = {}

    def _add(self, event: str, data: Mapping[str, Any]) -> None:
        if event in ("contentBlockStart", "contentBlockDelta"):
            part = data.get("start") or data["delta"]
            self._blocks.setdefault(data["contentBlockIndex"], []).append(part)
        elif event in ("messageStop", "metadata"):
            self._ended |= data
        elif event.endswith("Exception"):
            self._error = data

    def _whole(self) -> dict[str, Any]:
        content = [_whole_block(parts) for parts in self._blocks.values()]
        return {"output": {"message": {"role": "assistant", "content": content}}, **self._ended}


def _whole_block(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """A block of its start and its deltas."""
    if "toolUse" in parts[0]:
        arguments = "".join(part["toolUse"].get("input", "") for part in parts)
        return {"toolUse": {**parts[0]["toolUse"], "input": call_arguments(arguments)}}
    if "reasoningContent" not in parts[0]:
        return {"text": "".join(part["text"] for part in parts)}
    thoughts = [part["reasoningContent"] for part in parts]
    if "redactedContent" in thoughts[0]:
        return {"reasoningContent": dict(thoughts[0])}
    fields = ("text", "signature")
    joined = {name: "".join(each.get(name, "") for each in thoughts) for name in fields}
    return {"reasoningContent": {"reasoningText": joined}}
