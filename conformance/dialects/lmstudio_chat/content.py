"""The blocks of one answer of LM Studio's chat: what its events say, and when they begin and end.

Rule 1: events have no index: one block of a kind is open at a time, and the next one ends it.
Rule 2: the server runs the tools itself: their calls are hosted. Some servers name the tool in an
        event of its own, behind the start.
Rule 3: arguments come whole, and often twice: those count that come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.dialects.content_blocks import ContentBlocks, Slot
from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.lmstudio_chat.vocabulary import UNKNOWN

_THOUGHT, _TEXT, _CALL = range(3)  # where each kind of block stands (rule 1)


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
