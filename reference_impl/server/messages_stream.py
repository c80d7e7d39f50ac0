"""Messages: engine events become content blocks.

Rule 1: one block is open at a time; blocks count from 0 and none is reopened.
Rule 2: a thinking block ends with its one signature, which also holds the text, sealed: a block
        whose text is omitted can still be sent back.
Rule 3: redacted thinking is one block whose data comes with its start, so it waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from .engine import Finish, Start, ToolCall, Usage
from .projection import AnswerBody, AnswerProjection, call_arguments
from .refusal import Refusal, anthropic_error
from .sealing import Seal
from .stamp import Stamp
from .wire import Wire

Display = Literal["shown", "omitted", "redacted"]
# Delta type -> the field that it adds to, of the delta and of the block.
_ADDS: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
_STOPS: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


@dataclass(frozen=True, slots=True)
class MessagesShape:
    """How one stream looks, and what its thinking is sealed with."""

    model: str
    signature: Seal
    redaction: Seal
    display: Display = "shown"


class MessagesStream(AnswerProjection):
    def __init__(self, shape: MessagesShape, stamp: Stamp) -> None:
        super().__init__()
        self._shape = shape
        self._stamp = stamp
        self._index = 0
        self._open = ""  # the kind of block that is open
        self._thought: list[str] = []

    def _say(self, text: str) -> Iterator[Wire]:
        yield from self._enter("text", {"type": "text", "text": ""})
        yield self._delta({"type": "text_delta", "text": text})

    def _fail(self, refusal: Refusal) -> Iterator[Wire]:
        yield _wire("error", anthropic_error(refusal))

    def _start(self, start: Start) -> Iterator[Wire]:
        usage = anthropic_usage(Usage(start.prompt_tokens, 0, 0))
        message: dict[str, Any] = {
            "id": self._stamp.new("msg_"),
            "type": "message",
            "role": "assistant",
            "model": self._shape.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield _wire("message_start", {"message": message})

    def _think(self, text: str) -> Iterator[Wire]:
        if self._open == "text":
            yield from self._leave()
        self._thought.append(text)
        if self._shape.display == "redacted":
            self._open = "redacted"
            return
        yield from self._enter("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        if self._shape.display == "shown":
            yield self._delta({"type": "thinking_delta", "thinking": text})

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        yield from self._leave()
        tool = {"type": "tool_use", "id": self._stamp.new("toolu_"), "name": call.name}
        yield from self._enter("tool_use", {**tool, "input": {}})
        yield self._delta({"type": "input_json_delta", "partial_json": call.arguments})
        yield from self._leave()

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        yield from self._leave()
        reason = _STOPS[finish.reason]
        if finish.reason == "stop" and finish.stop_string is not None:
            reason = "stop_sequence"
        delta = {"stop_reason": reason, "stop_sequence": finish.stop_string}
        yield _wire("message_delta", {"delta": delta, "usage": anthropic_usage(finish.usage)})
        yield _wire("message_stop", {})

    def _enter(self, kind: str, block: dict[str, Any]) -> Iterator[Wire]:
        """Open a block of that kind unless one is open."""
        if self._open != kind:
            yield from self._leave()
            self._open = kind
            yield from self._started(block)

    def _started(self, block: dict[str, Any]) -> Iterator[Wire]:
        """The start of a block; a ping follows the first, where the API has its own."""
        yield _wire("content_block_start", {"index": self._index, "content_block": block})
        if self._index == 0:
            yield _wire("ping", {})

    def _leave(self) -> Iterator[Wire]:
        kind, self._open = self._open, ""
        if not kind:
            return
        thought = "".join(self._thought)
        self._thought.clear()
        if kind == "thinking":
            signature = self._shape.signature.seal(thought)
            yield self._delta({"type": "signature_delta", "signature": signature})
        elif kind == "redacted":
            block = {"type": "redacted_thinking", "data": self._shape.redaction.seal(thought)}
            yield from self._started(block)
        yield _wire("content_block_stop", {"index": self._index})
        self._index += 1

    def _delta(self, delta: dict[str, Any]) -> Wire:
        return _wire("content_block_delta", {"index": self._index, "delta": delta})


def _wire(kind: str, fields: dict[str, Any]) -> Wire:
    return Wire({"type": kind, **fields}, kind)


def anthropic_usage(usage: Usage) -> dict[str, Any]:
    """Usage as this API counts: thinking is part of the output."""
    return {
        "input_tokens": usage.prompt,
        "output_tokens": usage.completion,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


class MessagesBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(anthropic_error)
        self._message: dict[str, Any] = {}
        self._blocks: list[dict[str, Any]] = []

    def _add(self, _: str, data: Mapping[str, Any]) -> None:
        match data["type"]:
            case "message_start":
                self._message = dict(data["message"])
            case "content_block_start":
                block = dict(data["content_block"])
                self._blocks.append({**block, "input": ""} if "input" in block else block)
            case "content_block_delta":
                taken, field = _ADDS[data["delta"]["type"]]
                self._blocks[-1][field] += data["delta"][taken]
            case "message_delta":
                counted = {name: data[name] for name in ("usage",) if name in data}
                self._message |= {**data["delta"], **counted}
            case "error":
                self._error = data

    def _whole(self) -> dict[str, Any]:
        for block in self._blocks:
            if "input" in block:
                block["input"] = call_arguments(block["input"])
        return {**self._message, "content": self._blocks}
