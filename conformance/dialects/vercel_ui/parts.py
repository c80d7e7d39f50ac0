"""Parts of a UI message while it comes: what they say, and when they begin and end.

Rule 1: a part of text or reasoning is found by its kind and `id`, a call by its `toolCallId`.
Rule 2: the end of a step forgets every part, as the SDK's client does: what is open ends there.
Rule 3: `providerMetadata` on a part of reasoning, or on a call, is opaque data. It is said as often
        as the wire says it: several values of one item differ, and the last one is right.
Rule 4: a call is complete when its input is, which is what is shown and runs. The input stands for
        deltas only where none came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects.blocks import Block
from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.open_parts import OpenParts, PartKind
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

OVERFLOW: Final = "vercel.ui.overflow"

# Key below the name of a provider -> what kind of opaque data is there.
OPAQUE_KEYS: Final = {
    "signature": "signature",
    "thoughtSignature": "signature",
    "redactedData": "redacted",
    "reasoningEncryptedContent": "encrypted",
}


class UiParts(OpenParts):
    """The parts of one message, and its steps."""

    overflow = OVERFLOW

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._steps = 0
        self._in_step = False

    def start_step(self) -> None:
        """One more call of a model begins."""
        self._in_step = True
        self._sink.emit("step.start", {"choice": 0, "step": self._steps})

    def finish_step(self) -> None:
        """The step ends, and everything in it."""
        self.close()
        self._sink.emit("step.end", {"choice": 0, "step": self._steps})
        self._steps += self._in_step
        self._in_step = False

    def start_text(self, kind: PartKind, part: dict[str, Any]) -> None:
        self._say_opaque(self._start_part(kind, string(part.get("id"))), part)

    def add_text(self, kind: PartKind, part: dict[str, Any]) -> None:
        """A delta; an empty one may carry opaque data."""
        block = self._add_text(kind, string(part.get("id")), string(part.get("delta")))
        self._say_opaque(block, part)

    def end_text(self, kind: PartKind, part: dict[str, Any]) -> None:
        block = self._take_part(kind, string(part.get("id")))
        self._say_opaque(block, part)
        self._blocks.close(block, explicit=True)

    def start_call(self, part: dict[str, Any]) -> ToolCall | None:
        """A call is announced; none where there is no room."""
        call = self._start_call(
            string(part.get("toolCallId")),
            string(part.get("toolName")),
            is_hosted=part.get("providerExecuted") is True,
        )
        if call is not None:
            self._say_opaque(None, part)
        return call

    def add_input(self, part: dict[str, Any]) -> None:
        """A piece of a call's input."""
        call = self._calls.get(string(part.get("toolCallId"))) or self.start_call(part)
        if call is not None and (piece := string(part.get("inputTextDelta"))):
            call.add(self._sink, piece)

    def streamed_input(self, call_id: str) -> Any:
        """What the pieces of an open call say together; NOT_JSON where they are none."""
        call = self._calls.get(call_id)
        return decode_json(call.arguments) if call is not None else NOT_JSON

    def end_call(self, part: dict[str, Any]) -> None:
        """The whole input of a call, or why it has none."""
        call_id = string(part.get("toolCallId"))
        call = self._calls.get(call_id) or self.start_call(part)
        if call is None:
            return
        if call.has_arguments:
            call.state(part.get("input"))
        elif text := arguments_text(part.get("input")):
            call.add(self._sink, text)
        self._end_open_call(call_id)

    def _say_opaque(self, block: Block | None, part: dict[str, Any]) -> None:
        for kind, data in opaque_data(part):
            self._blocks.opaque(block, kind, data)


def opaque_data(part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and text of what a part holds that is never displayed, whoever the provider is."""
    for own in mapping(part.get("providerMetadata")).values():
        for key, kind in OPAQUE_KEYS.items():
            if data := string(mapping(own).get(key)):
                yield kind, data
