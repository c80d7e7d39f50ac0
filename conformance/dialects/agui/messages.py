"""Messages of a run while they come: what they say, and when they begin and end.

Rule 1: a message is found by its kind and `messageId`, a call by its `toolCallId`; the events of
        protocol 0.1.10 and before have no id, so there one thought is open at a time. A delta or
        an end of what is not open begins a message that nobody announced.
Rule 2: a chunk begins its message, goes on with it, and ends it: what is open by chunks ends with
        an empty delta, with another id, or with any other event.
Rule 3: a span of reasoning is no block: it may hold several messages, or opaque data alone.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_OPEN: Final = 4096
OVERFLOW: Final = "agui.overflow"

MessageKind = Literal["reasoning", "text"]


class RunMessages:
    """The messages and calls of one run; `is_over` once too many were open at once."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._open: dict[tuple[MessageKind, str], Block] = {}
        self._calls: dict[str, ToolCall] = {}
        self._called = 0
        self._chunked: tuple[MessageKind, str] | None = None
        self._chunked_call = ""
        self.is_over = False

    def start(self, kind: MessageKind, event: dict[str, Any]) -> None:
        """A message is announced; one of its id that is open ends."""
        message_id = string(event.get("messageId"))
        self._blocks.close(self._open.pop((kind, message_id), None))
        self._begin_message(kind, message_id, explicit=True)

    def add(self, kind: MessageKind, event: dict[str, Any]) -> None:
        """A delta; an empty one begins nothing."""
        if text := string(event.get("delta")):
            message_id = string(event.get("messageId"))
            block = self._open.get((kind, message_id)) or self._begin_message(kind, message_id)
            if block is not None:
                self._say_text(block, text)

    def end(self, kind: MessageKind, event: dict[str, Any]) -> None:
        """The end of a message; that of one that is not open is said of one without content."""
        message_id = string(event.get("messageId"))
        block = self._open.pop((kind, message_id), None) or self._new_block(kind, message_id)
        self._blocks.close(block, explicit=True)

    def chunk(self, kind: MessageKind, event: dict[str, Any]) -> None:
        """A piece that stands for start, delta and end; without an id it goes on."""
        stated, text = string(event.get("messageId")), string(event.get("delta"))
        going_on = self._chunked if self._chunked and self._chunked[0] == kind else None
        key = (kind, stated) if stated or going_on is None else going_on
        if key != going_on:
            self.end_chunks()
            if text:
                self._chunked = key
        if text:
            self.add(*key[:1], {"messageId": key[1], "delta": text})
        else:
            self.end_chunks()

    def end_chunks(self) -> None:
        """Another event comes: what is open by chunks ends."""
        if self._chunked is not None:
            self._blocks.close(self._open.pop(self._chunked, None))
            self._chunked = None
        if self._chunked_call:
            self._end_open_call(self._chunked_call)
            self._chunked_call = ""

    def seal(self, event: dict[str, Any]) -> None:
        """Opaque data of a message, whether it is open or not."""
        if data := string(event.get("encryptedValue")):
            block = self._open.get(("reasoning", string(event.get("entityId"))))
            self._blocks.opaque(block, "encrypted", data)

    def start_call(self, event: dict[str, Any]) -> ToolCall | None:
        """A call is announced; one of its id that is open ends."""
        call_id = string(event.get("toolCallId"))
        self._end_open_call(call_id)
        if not self._has_room():
            return None
        call = ToolCall(0, self._called, call_id, string(event.get("toolCallName")))
        self._calls[call_id] = call
        self._called += 1
        call.start(self._sink)
        return call

    def add_arguments(self, event: dict[str, Any]) -> None:
        """A piece of a call's arguments."""
        call = self._calls.get(string(event.get("toolCallId"))) or self.start_call(event)
        if call is not None and (piece := string(event.get("delta"))):
            call.add(self._sink, piece)

    def end_call(self, event: dict[str, Any]) -> None:
        """The arguments are complete."""
        call_id = string(event.get("toolCallId"))
        if call_id in self._calls or self.start_call(event) is not None:
            self._end_open_call(call_id)

    def chunk_call(self, event: dict[str, Any]) -> None:
        """A piece of a call that stands for start, arguments and end."""
        stated = string(event.get("toolCallId")) or self._chunked_call
        if stated != self._chunked_call:
            self.end_chunks()
            self._chunked_call = stated
            self.start_call({**event, "toolCallId": stated})
        self.add_arguments({**event, "toolCallId": stated})

    def snapshot(self, messages: Any) -> None:
        """All messages as they stand now, those of earlier runs too."""
        held: dict[str, list[str]] = {"reasoning": [], "assistant": []}
        for message in objects(messages):
            texts = held.get(string(message.get("role")))
            if texts is not None:
                texts.append(string(message.get("content")))
        thinking, text = ("\n".join(held[role]) for role in ("reasoning", "assistant"))
        self._sink.say("snapshot", {"choice": 0, "thinking": thinking, "text": text})

    def close(self) -> None:
        """Ends still owed."""
        for block in self._open.values():
            self._blocks.close(block)
        self._open.clear()
        for call_id in list(self._calls):
            self._end_open_call(call_id)
        self._chunked, self._chunked_call = None, ""

    def _begin_message(
        self, kind: MessageKind, message_id: str, *, explicit: bool = False
    ) -> Block | None:
        if not self._has_room():
            return None
        block = self._open[kind, message_id] = self._new_block(kind, message_id, explicit=explicit)
        return block

    def _new_block(self, kind: MessageKind, message_id: str, *, explicit: bool = False) -> Block:
        if kind == "text":
            return self._blocks.write()
        return self._blocks.think("raw", explicit=explicit, item_id=message_id)

    def _say_text(self, block: Block, text: str) -> None:
        if block.channel is None:
            self._blocks.text(block, text)
        else:
            self._blocks.thought(block, block.channel, text)

    def _end_open_call(self, call_id: str) -> None:
        if (call := self._calls.pop(call_id, None)) is not None:
            call.end(self._sink)

    def _has_room(self) -> bool:
        if len(self._open) + len(self._calls) < MOST_OPEN:
            return True
        if not self.is_over:
            self.is_over = True
            self._sink.wire(OVERFLOW, {})
        return False


def reasons_of(outcome: Any) -> str:
    """Why a run finished, in the words of all dialects; no outcome is success."""
    kind = string(mapping(outcome).get("type"))
    return "stop" if kind in ("", "success") else kind
