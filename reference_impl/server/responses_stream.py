"""Responses: engine events become the life of a response.

Rule 1: created, in progress, items, one closing event; sequence numbers from 0 without a gap.
Rule 2: one item is open at a time, and its index is how many came before it. The closing response
        repeats every item as it was closed.
Rule 3: where a response fails or runs out of tokens, the open item closes as incomplete and stays
        in the output: what a client saw is never taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .engine import Finish, ReasoningDelta, Start, TextDelta, ToolCall, Usage
from .projection import Stamp
from .responses_items import (
    CLOSED,
    CallItem,
    ItemEvent,
    MessageItem,
    ReasoningItem,
    Status,
    ThinkingShape,
)
from .responses_request import Resource
from .summary import AnswerEvent, SummaryDelta, SummaryEnd, SummaryFailed
from .turns import Turn, assistant, function_call
from .wire import Wire

Item = ReasoningItem | MessageItem | CallItem


@dataclass(frozen=True, slots=True)
class ResponsesShape:
    """How one stream looks: whether thinking is shown at all, only before the answer, and how.

    `always_a_message`: a turn without text has an empty message, before its calls.
    """

    resource: Resource
    thinking: ThinkingShape
    shows_thinking: bool = True
    thinks_once: bool = False
    always_a_message: bool = False


class ResponsesStream:
    """The events of one response; `turn` is what the model said, for the next request."""

    def __init__(self, shape: ResponsesShape, stamp: Stamp) -> None:
        self._shape = shape
        self._stamp = stamp
        self._sequence = 0
        self._items: list[Item] = []
        self._open: Item | None = None
        self._output: list[dict[str, Any]] = []
        self._spent = Usage(0, 0, 0)  # so far: what was seen of the main call, and all summaries
        self._summaries = Usage(0, 0, 0)
        self.is_over = False

    @property
    def turn(self) -> Turn:
        text = "".join(item.text for item in self._items if isinstance(item, MessageItem))
        thought = "".join(item.text for item in self._items if isinstance(item, ReasoningItem))
        calls = [item for item in self._items if isinstance(item, CallItem)]
        return assistant(
            text, thought, [function_call(c.call_id, c.call.name, c.call.arguments) for c in calls]
        )

    def opening(self) -> Iterator[Wire]:
        for kind in ("created", "in_progress"):
            response = self._shape.resource.snapshot("in_progress")
            yield self._wire(f"response.{kind}", {"response": response})

    def feed(self, event: AnswerEvent) -> Iterator[Wire]:
        match event:
            case ReasoningDelta():
                self._spend(thought=event.tokens)
                if self._shows_thinking:
                    yield from self._emit_thinking(event.text)
            case TextDelta():
                yield from self._write(event.text)
            case ToolCall():
                yield from self._emit_call(event)
            case SummaryDelta():
                yield from self._summarise(event.text)
            case SummaryEnd():
                self._summaries = _usage_of_both(self._summaries, event.usage)
            case SummaryFailed():
                usage = _usage_of_both(_usage_of_both(self._spent, self._summaries), event.usage)
                yield from self._failed_wires(event.message, usage)
            case Finish():
                yield from self._emit_finish(event)
            case Start():
                self._spend(prompt=event.prompt_tokens)

    def fail(self, message: str) -> Iterator[Wire]:
        yield from self._failed_wires(message, None)

    @property
    def _shows_thinking(self) -> bool:
        has_spoken = any(not isinstance(item, ReasoningItem) for item in self._items)
        return self._shape.shows_thinking and not (self._shape.thinks_once and has_spoken)

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        item = self._open
        if not isinstance(item, ReasoningItem):
            item = ReasoningItem(self._stamp.new("rs_"), self._shape.thinking)
            yield from self._enter_block(item)
        yield from self._item_events(item.think(text))

    def _summarise(self, text: str) -> Iterator[Wire]:
        if isinstance(self._open, ReasoningItem):
            yield from self._item_events(self._open.summarise(text))

    def _write(self, text: str) -> Iterator[Wire]:
        item = self._open
        if not isinstance(item, MessageItem):
            item = MessageItem(self._stamp.new("msg_"))
            yield from self._enter_block(item)
        yield from self._item_events(item.write(text))

    def _owe_message(self) -> Iterator[Wire]:
        has_message = any(isinstance(item, MessageItem) for item in self._items)
        if self._shape.always_a_message and not has_message:
            yield from self._enter_block(MessageItem(self._stamp.new("msg_")))

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        yield from self._owe_message()
        yield from self._enter_block(
            CallItem(self._stamp.new("fc_"), self._stamp.new("call_"), call)
        )
        yield from self._leave_block("completed")

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        usage = _usage_of_both(finish.usage, self._summaries)
        if finish.reason == "cancelled":
            yield from self._failed_wires("the generation was cancelled", usage)
            return
        yield from self._owe_message()
        if finish.reason == "length":
            yield from self._leave_block("incomplete")
            yield from self._close("incomplete", usage=usage, reason="max_output_tokens")
        else:
            yield from self._leave_block("completed")
            yield from self._close("completed", usage=usage)

    def _failed_wires(self, message: str, usage: Usage | None) -> Iterator[Wire]:
        yield from self._leave_block("incomplete")
        error = {"code": "server_error", "message": message}
        yield from self._close("failed", usage=usage, error=error)

    def _close(self, status: str, **facts: Any) -> Iterator[Wire]:
        response = self._shape.resource.snapshot(status, self._output, **facts)
        yield self._wire(f"response.{status}", {"response": response})
        self.is_over = True

    def _enter_block(self, item: Item) -> Iterator[Wire]:
        yield from self._leave_block("completed")
        self._open = item
        self._items.append(item)
        yield from self._item_events(item.opened())

    def _leave_block(self, status: Status) -> Iterator[Wire]:
        if self._open is not None:
            yield from self._item_events(self._open.closed(status))
            self._open = None

    def _item_events(self, events: Iterator[ItemEvent]) -> Iterator[Wire]:
        """Events of the item that was begun last."""
        index = len(self._items) - 1
        for kind, fields in events:
            if kind == CLOSED:
                self._output.append(fields["item"])
            yield self._wire(kind, {"output_index": index, **fields})

    def _wire(self, kind: str, fields: dict[str, Any]) -> Wire:
        wire = Wire({"type": kind, "sequence_number": self._sequence, **fields}, kind)
        self._sequence += 1
        return wire

    def _spend(self, prompt: int = 0, thought: int = 0) -> None:
        spent = self._spent
        self._spent = Usage(
            spent.prompt + prompt, spent.completion + thought, spent.reasoning + thought
        )


def _usage_of_both(one: Usage, other: Usage) -> Usage:
    """Both; reasoning is that of the first, for thinking about a summary is not shown."""
    return Usage(one.prompt + other.prompt, one.completion + other.completion, one.reasoning)
