"""The steps of an interaction: what they say, and when they begin and end.

Rule 1: a delta says what its own type says, whatever step it is in.
Rule 2: a thought starts and ends explicitly, also where it has no summary. What is shown of it is
        a summary.
Rule 3: signatures count on thoughts only: a call has an empty one, which is none.
Rule 4: what an interaction repeats of its input is no answer: steps of users and results of tools
        say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.dialects.content_blocks import ContentBlocks, Slot
from conformance.dialects.gemini_interactions.vocabulary import (
    CALL,
    HOSTED_CALLS,
    OUTPUT,
    OVERFLOW,
    THOUGHT,
)
from conformance.dialects.json_edge import arguments_text, mapping, objects, string, whole


class Steps(ContentBlocks):
    overflow = OVERFLOW

    __slots__ = ()

    def start(self, event: Mapping[str, Any]) -> None:
        if (slot := self.begin_at(whole(event.get("index")))) is not None:
            self._begin_step(slot, mapping(event.get("step")))

    def delta(self, event: Mapping[str, Any]) -> None:
        """A delta that says something: an empty one begins nothing."""
        delta = mapping(event.get("delta"))
        kind = string(delta.get("type"))
        if kind in _SHOWN:
            self._sink.show()
        if kind not in _DELTAS:
            return
        read, act = _DELTAS[kind]
        text = read(delta)
        if text and (slot := self.slot_at(whole(event.get("index")))) is not None:
            act(self, slot, text)

    def stop(self, event: Mapping[str, Any]) -> None:
        self.stop_at(whole(event.get("index")))

    def whole(self, steps: list[Any]) -> None:
        """Steps that come in one piece."""
        for element in steps:
            slot = Slot()
            self._begin_step(slot, mapping(element))
            self._end_slot(slot, explicit=True)

    def summarise(self, slot: Slot, text: str) -> None:
        """Thinking, as far as it is reported."""
        if slot.thinking is None:
            slot.thinking = self._blocks.think("summary")
        self._blocks.thought(slot.thinking, "summary", text)

    def _begin_step(self, slot: Slot, step: dict[str, Any]) -> None:
        kind = string(step.get("type"))
        if kind == THOUGHT:
            slot.thinking = self._blocks.think("summary", explicit=True)
            for part in objects(step.get("summary")):
                if text := string(part.get("text")):
                    self.summarise(slot, text)
            if signature := string(step.get("signature")):
                self.sign(slot, signature)
        elif kind == OUTPUT:
            for part in objects(step.get("content")):
                self.write(slot, string(part.get("text")))
                if part.get("type") in _SHOWN:
                    self._sink.show()
        elif kind == CALL or kind in HOSTED_CALLS:
            name = string(step.get("name")) or kind.removesuffix("_call")
            named = string(step.get("id")), "" if kind == CALL and "name" not in step else name
            self._name_tool(slot, *named, is_hosted=kind != CALL)
            slot.input = step.get("arguments")


def _summary_text(delta: Mapping[str, Any]) -> str:
    return string(mapping(delta.get("content")).get("text"))


def _hosted_arguments(delta: Mapping[str, Any]) -> str:
    return arguments_text(delta.get("arguments"))


def _field(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda delta: string(delta.get(name))


_SHOWN: Final = ("image", "audio", "video", "document")
# Type of a delta -> how its text is found, and what it does.
_DELTAS: Final[
    Mapping[str, tuple[Callable[[Mapping[str, Any]], str], Callable[[Steps, Slot, str], None]]]
] = {
    "thought_summary": (_summary_text, Steps.summarise),
    "thought_signature": (_field("signature"), Steps.sign),
    "text": (_field("text"), Steps.write),
    "arguments_delta": (_field("arguments"), Steps.call),
    **dict.fromkeys(HOSTED_CALLS, (_hosted_arguments, Steps.call)),
}
