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
from .projection import ArgumentsError, call_arguments
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


class ConverseBody:
    """Adds up events; `body` is the message, or what was raised."""

    def __init__(self) -> None:
        self._blocks: dict[int, list[Mapping[str, Any]]] = {}
        self._ended: dict[str, Any] = {}
        self._raised: Mapping[str, Any] | None = None

    def add(self, wire: Wire) -> None:
        assert not isinstance(wire.data, str)
        if wire.event in ("contentBlockStart", "contentBlockDelta"):
            said = wire.data.get("start") or wire.data["delta"]
            self._blocks.setdefault(wire.data["contentBlockIndex"], []).append(said)
        elif wire.event in ("messageStop", "metadata"):
            self._ended |= wire.data
        elif wire.event.endswith("Exception"):
            self._raised = wire.data

    def body(self) -> tuple[int, Mapping[str, Any]]:
        if self._raised is not None:
            return 500, self._raised
        try:
            content = [_whole(said) for said in self._blocks.values()]
        except ArgumentsError as err:
            return 500, {"message": str(err)}
        return 200, {
            "output": {"message": {"role": "assistant", "content": content}},
            **self._ended,
        }


def _whole(said: list[Mapping[str, Any]]) -> dict[str, Any]:
    """A block of what was said of it."""
    if "toolUse" in said[0]:
        arguments = "".join(each["toolUse"].get("input", "") for each in said)
        return {"toolUse": {**said[0]["toolUse"], "input": call_arguments(arguments)}}
    if "reasoningContent" not in said[0]:
        return {"text": "".join(each["text"] for each in said)}
    parts = [each["reasoningContent"] for each in said]
    if "redactedContent" in parts[0]:
        return {"reasoningContent": dict(parts[0])}
    joined = {name: "".join(part.get(name, "") for part in parts) for name in ("text", "signature")}
    return {"reasoningContent": {"reasoningText": joined}}
