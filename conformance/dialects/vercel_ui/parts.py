"""Parts of a UI message while it comes: what they say, and when they begin and end.

Rule 1: a part of text or reasoning is found by its kind and `id`, a call by its `toolCallId`. Ids
        are matched, never parsed. A delta or an end whose id is not open begins a part that nobody
        announced; a start whose id is open ends the part that was.
Rule 2: the end of a step forgets every part, as the SDK's client does: what is open ends there.
Rule 3: `providerMetadata` on a part of reasoning, or on a call, is opaque data. It is said as often
        as the wire says it: several values of one item differ, and the last one is right.
Rule 4: a call is complete when its input is: the input stands for deltas only where none came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

MOST_PARTS: Final = 4096
OVERFLOW: Final = "vercel.ui.overflow"

TextKind = Literal["reasoning", "text"]

# Key below the name of a provider -> what kind of opaque data stands there.
OPAQUE_KEYS: Final = {
    "signature": "signature",
    "thoughtSignature": "signature",
    "redactedData": "redacted",
    "reasoningEncryptedContent": "encrypted",
}


class UiParts:
    """The parts of one message, and its steps; `is_over` once too many were open at once."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._texts: dict[tuple[TextKind, str], Block] = {}
        self._calls: dict[str, ToolCall] = {}
        self._called = 0
        self._steps = 0
        self._in_step = False
        self.is_over = False

    def start_step(self) -> None:
        """One more call of a model begins."""
        self._in_step = True
        self._sink.say("step.start", {"choice": 0, "step": self._steps})

    def finish_step(self) -> None:
        """The step ends, and everything in it."""
        self.close()
        self._sink.say("step.end", {"choice": 0, "step": self._steps})
        self._steps += self._in_step
        self._in_step = False

    def start_text(self, kind: TextKind, part: dict[str, Any]) -> None:
        """A part is announced; one of its id that is open ends."""
        part_id = string(part.get("id"))
        self._blocks.close(self._texts.pop((kind, part_id), None))
        block = self._open_text(kind, part_id, explicit=True)
        self._say_opaque(block, part)

    def add_text(self, kind: TextKind, part: dict[str, Any]) -> None:
        """A delta; an empty one may carry opaque data, and begins nothing else."""
        part_id, text = string(part.get("id")), string(part.get("delta"))
        block = self._texts.get((kind, part_id))
        if block is None and text:
            block = self._open_text(kind, part_id)
        if block is not None and text:
            if kind == "reasoning":
                self._blocks.thought(block, "raw", text)
            else:
                self._blocks.text(block, text)
        self._say_opaque(block, part)

    def end_text(self, kind: TextKind, part: dict[str, Any]) -> None:
        """The end of a part; that of one that is not open is said of a part without content."""
        part_id = string(part.get("id"))
        block = self._texts.pop((kind, part_id), None) or self._new_block(kind, part_id)
        self._say_opaque(block, part)
        self._blocks.close(block, explicit=True)

    def start_call(self, part: dict[str, Any]) -> ToolCall | None:
        """A call is announced; one of its id that is open ends."""
        call_id = string(part.get("toolCallId"))
        if (known := self._calls.pop(call_id, None)) is not None:
            known.end(self._sink)
        if not self._has_room():
            return None
        hosted = part.get("providerExecuted") is True
        name = string(part.get("toolName"))
        call = self._calls[call_id] = ToolCall(0, self._called, call_id, name, is_hosted=hosted)
        self._called += 1
        call.start(self._sink)
        self._say_opaque(None, part)
        return call

    def add_input(self, part: dict[str, Any]) -> None:
        """A piece of a call's input."""
        call = self._calls.get(string(part.get("toolCallId"))) or self.start_call(part)
        if call is not None and (piece := string(part.get("inputTextDelta"))):
            call.add(self._sink, piece)

    def end_call(self, part: dict[str, Any]) -> None:
        """The whole input of a call, or why it has none."""
        call_id = string(part.get("toolCallId"))
        call = self._calls.get(call_id) or self.start_call(part)
        if call is None:
            return
        if not call.has_arguments and (text := arguments_text(part.get("input"))):
            call.add(self._sink, text)
        call.end(self._sink)
        self._calls.pop(call_id, None)

    def close(self) -> None:
        """Ends still owed."""
        for block in self._texts.values():
            self._blocks.close(block)
        for call in self._calls.values():
            call.end(self._sink)
        self._texts.clear()
        self._calls.clear()

    def _open_text(self, kind: TextKind, part_id: str, *, explicit: bool = False) -> Block | None:
        if not self._has_room():
            return None
        block = self._new_block(kind, part_id, explicit=explicit)
        self._texts[kind, part_id] = block
        return block

    def _new_block(self, kind: TextKind, part_id: str, *, explicit: bool = False) -> Block:
        if kind == "text":
            return self._blocks.write()
        return self._blocks.think("raw", explicit=explicit, item_id=part_id)

    def _has_room(self) -> bool:
        if len(self._texts) + len(self._calls) < MOST_PARTS:
            return True
        if not self.is_over:
            self.is_over = True
            self._sink.wire(OVERFLOW, {})
        return False

    def _say_opaque(self, block: Block | None, part: dict[str, Any]) -> None:
        for kind, data in opaque_data(part):
            self._blocks.opaque(block, kind, data)


def opaque_data(part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and text of what a part holds that is never displayed, whoever the provider is."""
    for own in mapping(part.get("providerMetadata")).values():
        for key, kind in OPAQUE_KEYS.items():
            if data := string(mapping(own).get(key)):
                yield kind, data
