"""Messages of a run while they come: what they say, and when they begin and end.

Rule 1: a message is found by its kind and `messageId`, a call by its `toolCallId`; the events of
        protocol 0.1.10 and before have no id, so there one thought is open at a time.
Rule 2: a chunk begins its message, continues it, and ends it: what is open by chunks ends with
        an empty delta, with another id, or with any other event.
Rule 3: a text whose role is another one than the answer's is labelled with it: the application
        speaks there, and not the model.
Rule 4: a span of reasoning is no block: it may hold several messages, or opaque data alone.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.blocks import NOTICE_ROLES, Block
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.open_parts import OpenParts, PartKind
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

OVERFLOW: Final = "agui.overflow"


class RunMessages(OpenParts):
    overflow = OVERFLOW

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._chunked: tuple[PartKind, str] | None = None
        self._chunked_call = ""

    def start(self, kind: PartKind, event: dict[str, Any]) -> None:
        self._label(self._start_part(kind, string(event.get("messageId"))), event)

    def add(self, kind: PartKind, event: dict[str, Any]) -> None:
        self._add_text(kind, string(event.get("messageId")), string(event.get("delta")))

    def end(self, kind: PartKind, event: dict[str, Any]) -> None:
        block = self._take_part(kind, string(event.get("messageId")))
        self._blocks.close(block, explicit=True)

    def chunk(self, kind: PartKind, event: dict[str, Any]) -> None:
        """A piece that stands for start, delta and end; without an id it goes on."""
        stated, text = string(event.get("messageId")), string(event.get("delta"))
        going_on = self._chunked if self._chunked and self._chunked[0] == kind else None
        key = (kind, stated) if stated or going_on is None else going_on
        if key != going_on:
            self.end_chunks()
            if text:
                self._chunked = key
        if text:
            if key not in self._open:
                self._label(self._begin_part(*key), event)
            self._add_text(*key, text)
        else:
            self.end_chunks()

    def _label(self, block: Block | None, event: dict[str, Any]) -> None:
        """Rule 3."""
        role = string(event.get("role"))
        if block is not None and block.channel is None and role in NOTICE_ROLES:
            block.phase = role

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
        """A call is announced; none where there is no room."""
        return self._start_call(string(event.get("toolCallId")), string(event.get("toolCallName")))

    def add_arguments(self, event: dict[str, Any]) -> None:
        """A piece of a call's arguments."""
        call = self._calls.get(string(event.get("toolCallId"))) or self.start_call(event)
        if call is not None and (piece := string(event.get("delta"))):
            call.add(self._sink, piece)

    def end_call(self, event: dict[str, Any]) -> None:
        """The arguments are complete."""
        self._end_open_call(string(event.get("toolCallId")))

    def chunk_call(self, event: dict[str, Any]) -> None:
        """A piece of a call that stands for start, arguments and end."""
        stated = string(event.get("toolCallId")) or self._chunked_call
        if stated != self._chunked_call:
            self.end_chunks()
            self._chunked_call = stated
            self.start_call({**event, "toolCallId": stated})
        self.add_arguments({**event, "toolCallId": stated})

    def snapshot(self, messages: Any) -> None:
        """All messages as they stand now, those of earlier runs too.

        Without a message of reasoning it states no thinking.
        """
        held: dict[str, list[str]] = {"reasoning": [], "assistant": []}
        for message in objects(messages):
            texts = held.get(string(message.get("role")))
            if texts is not None:
                texts.append(string(message.get("content")))
        fields = {"choice": 0, "text": "\n".join(held["assistant"])}
        if held["reasoning"]:
            fields["thinking"] = "\n".join(held["reasoning"])
        self._sink.emit("snapshot", fields)

    def close(self) -> None:
        """Ends still owed."""
        super().close()
        self._chunked, self._chunked_call = None, ""


def reasons_of(outcome: Any) -> str:
    """Why a run finished, in the words of all dialects; no outcome is success."""
    kind = string(mapping(outcome).get("type"))
    return "stop" if kind in ("", "success") else kind
