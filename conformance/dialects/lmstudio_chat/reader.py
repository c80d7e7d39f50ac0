"""Dialect `lmstudio.chat`: the events of LM Studio's own chat, and whole answers.

Rule 1: an event is its type after `lm.`. A body is `lm.body`, an error of any form `lm.error`.
Rule 2: every `chat.start` is a message, and begins the next answer where something came before.
Rule 3: `chat.end` is the end. What its result repeats is not said again: it is in the event as
        `stated`, joined by kind, with the names of the tools that were called, and what those
        that succeeded were given and gave back.
Rule 4: an error leaves the answer open, for `chat.end` still comes.

The blocks of one answer:

Rule 5: events have no index: one block of a kind is open at a time, and the next one ends it.
Rule 6: the server runs the tools itself: their calls are hosted. Some servers name the tool in an
        event of its own, after the start.
Rule 7: arguments come whole, and often twice: those count that come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects import outcome
from conformance.dialects.content_blocks import ContentBlocks, Slot
from conformance.dialects.json_edge import (
    arguments_text,
    event_data,
    mapping,
    objects,
    string,
    whole_counts,
)
from conformance.dialects.lmstudio_chat.vocabulary import BODY, PREFIX, STREAMED, UNKNOWN
from conformance.dialects.typed import TypedReader

_THOUGHT, _TEXT, _CALL = range(3)  # where each kind of block stands (rule 5)


class AnswerBlocks(ContentBlocks):
    """The blocks of one answer: no more than one of each kind is known at a time."""

    overflow = UNKNOWN  # three places are never too many

    __slots__ = ()

    def start_thinking(self, _event: Mapping[str, Any]) -> None:
        if (slot := self.begin_at(_THOUGHT)) is not None:
            slot.thinking = self._blocks.think("raw", explicit=True)

    def add_thinking(self, event: Mapping[str, Any]) -> None:
        text = string(event.get("content"))
        if text and (slot := self.slot_at(_THOUGHT)) is not None:
            self.think(slot, text)

    def start_text(self, _event: Mapping[str, Any]) -> None:
        self.begin_at(_TEXT)

    def add_text(self, event: Mapping[str, Any]) -> None:
        text = string(event.get("content"))
        if text and (slot := self.slot_at(_TEXT)) is not None:
            self.write(slot, text)

    def start_call(self, event: Mapping[str, Any]) -> None:
        """A call begins; some servers name it in an event of its own."""
        if (slot := self.begin_at(_CALL)) is not None and called_tool(event):
            self._name_call(slot, event)

    def tell_call(self, event: Mapping[str, Any]) -> Slot | None:
        """What an event says of the call: its name, and its arguments where none came before."""
        if (slot := self.slot_at(_CALL)) is None:
            return None
        tool = self._name_call(slot, event) if slot.tool is None else slot.tool
        given = event.get("arguments", mapping(event.get("metadata")).get("arguments"))
        if (text := arguments_text(given)) and tool is not None and not tool.has_arguments:
            self.call(slot, text)
        return slot

    def end_call(self, event: Mapping[str, Any]) -> None:
        if (slot := self.tell_call(event)) is not None:
            self._end_slot(slot, explicit=True)

    def whole(self, item: Mapping[str, Any]) -> None:
        """An element of a result."""
        for act in _WHOLE.get(string(item.get("type")), ()):
            act(self, item)

    def _name_call(self, slot: Slot, event: Mapping[str, Any]) -> Any:
        self._name_tool(slot, "", called_tool(event), is_hosted=True)
        return slot.tool


def called_tool(event: Mapping[str, Any]) -> str:
    """The name of the tool in an event of a call, or in an element of a result."""
    named = (
        event.get("tool"),
        event.get("tool_name"),
        mapping(event.get("metadata")).get("tool_name"),
    )
    return next(filter(None, map(string, named)), "")


def _ends(place: int) -> Callable[[AnswerBlocks, Mapping[str, Any]], None]:
    return lambda blocks, _event: blocks.stop_at(place)


_Act = Callable[[AnswerBlocks, Mapping[str, Any]], object]
ACTS: Final[Mapping[str, _Act]] = {
    "reasoning.start": AnswerBlocks.start_thinking,
    "reasoning.delta": AnswerBlocks.add_thinking,
    "reasoning.end": _ends(_THOUGHT),
    "message.start": AnswerBlocks.start_text,
    "message.delta": AnswerBlocks.add_text,
    "message.end": _ends(_TEXT),
    "tool_call.start": AnswerBlocks.start_call,
    "tool_call.name": AnswerBlocks.tell_call,
    "tool_call.arguments": AnswerBlocks.tell_call,
    "tool_call.success": AnswerBlocks.end_call,
    "tool_call.failure": AnswerBlocks.end_call,
}
_CALL_ACTS: Final = (AnswerBlocks.start_call, AnswerBlocks.end_call)
_WHOLE: Final[Mapping[str, tuple[_Act, ...]]] = {
    "reasoning": (AnswerBlocks.start_thinking, AnswerBlocks.add_thinking, _ends(_THOUGHT)),
    "message": (AnswerBlocks.start_text, AnswerBlocks.add_text, _ends(_TEXT)),
    "tool_call": _CALL_ACTS,
    "invalid_tool_call": _CALL_ACTS,
}


_COUNTS: Final = {
    "input": "input_tokens",
    "output": "total_output_tokens",
    "reasoning": "reasoning_output_tokens",
}


class LmStudioReader(TypedReader[AnswerBlocks]):
    content_type = AnswerBlocks
    unknown = UNKNOWN
    history = "input"

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "error" or (kind not in STREAMED and is_failure(frame, fields)):
            self._fail(payload)
            return
        if kind == "chat.start":
            self._announce("", has_spoken=self._has_begun)
        data = event_data(payload)
        if kind == "chat.end":
            data = {**data, "stated": stated(mapping(fields.get("result")))}
        self._sink.wire(PREFIX + kind if kind in STREAMED else self.unknown, data)
        if kind in ACTS or kind in ("chat.start", "chat.end"):
            self._begin_once()
        if kind in ACTS:
            ACTS[kind](self._content, fields)
        elif kind == "chat.end":
            self._content.close()
            self._count(mapping(fields.get("result")))
            self._say_done()

    def _fail(self, payload: Any) -> None:
        """Rules 1 and 4."""
        self._sink.wire("lm.error", event_data(payload))
        self._content.close()
        self._sink.say_error(outcome.error(mapping(payload).get("error") or payload))

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        self._is_whole = True
        if is_failure(None, fields):
            self._fail(payload)
        elif not isinstance(fields.get("output"), list):
            self._sink.wire(self.unknown, event_data(payload))
        else:
            self._sink.wire(BODY, {**fields, "stated": stated(fields)})
            self._begin_once()
            for item in objects(fields.get("output")):
                self._content.whole(item)
            self._count(fields)

    def _count(self, result: Mapping[str, Any]) -> None:
        self._sink.say_usage(whole_counts(result.get("stats"), _COUNTS))


def stated(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says again, by kind (rule 3), and in which `order`."""
    items = objects(result.get("output"))
    texts = {
        kind: "".join(string(each.get("content")) for each in items if each.get("type") == kind)
        for kind in ("reasoning", "message")
    }
    calls = [
        called_tool(each)
        for each in items
        if each.get("type") in ("tool_call", "invalid_tool_call")
    ]
    kinds = ((string(each.get("type")), string(each.get("content"))) for each in items)
    order = " ".join(kind for kind, text in kinds if kind not in texts or text.strip())
    done = [each for each in items if each.get("type") == "tool_call"]
    given = {"arguments": [each.get("arguments") for each in done]}
    given["outputs"] = [each.get("output") for each in done]
    return {**texts, "tools": calls, "order": order, **given}


def is_failure(frame: Frame | None, fields: Mapping[str, Any]) -> bool:
    """Whether a payload is an error."""
    return bool(fields.get("error")) or (frame is not None and frame.event == "error")


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a stream or a whole answer; an error alone names no dialect."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    is_body = "model_instance_id" in fields and isinstance(fields.get("output"), list)
    return (kind in STREAMED and kind != "error") or is_body
