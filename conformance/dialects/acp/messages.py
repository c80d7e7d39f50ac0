"""Messages, thoughts and calls of one turn, as a client would show them.

Rule 1: nothing on the wire starts or ends a thought or a message: a run of chunks of one kind, and
        of one `messageId` where they have one, is one of them. Another kind, another id, a call, or
        the end of the turn ends it; news of the session do not. A count of tokens, and news of a
        call, end a run without an id: all chunks of one message have its id.
Rule 2: a call starts when it is announced, and ends with its status; what it was given is in
        `rawInput`, there or in an update.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.open_parts import OpenParts, PartKind

OVERFLOW: Final = "acp.overflow"
_ENDED: Final = ("completed", "failed")


def _name(call: dict[str, Any]) -> str:
    """The name of the tool, where it is reported; else what the call is titled."""
    return string(call.get("name")) or string(call.get("title"))


class TurnMessages(OpenParts):
    overflow = OVERFLOW

    def add_chunk(self, kind: PartKind, update: dict[str, Any]) -> None:
        """A piece of a thought or a message; what is no text says nothing."""
        message_id = string(update.get("messageId"))
        if (kind, message_id) not in self._open:
            self.end_run()
        content = mapping(update.get("content"))
        self._add_text(kind, message_id, string(content.get("text")))

    def end_run(self) -> None:
        for block in self._open.values():
            self._blocks.close(block)
        self._open.clear()

    def interrupt_run(self) -> None:
        """Ends it unless its chunks have an id, by which the next ones are known."""
        if not any(message_id for _, message_id in self._open):
            self.end_run()

    def take_call(self, update: dict[str, Any]) -> None:
        """A call, or news of one."""
        is_announced = update.get("sessionUpdate") == "tool_call"
        if is_announced:
            self.end_run()
        else:
            self.interrupt_run()
        call_id = string(update.get("toolCallId"))
        call = self._calls.get(call_id)
        if call is None and is_announced:
            call = self._start_call(call_id, _name(update), is_hosted=True)
        if call is None:
            return
        if call.has_arguments and "rawInput" in update:
            call.state(update["rawInput"])
        elif text := arguments_text(update.get("rawInput")):
            call.add(self._sink, text)
        if update.get("status") in _ENDED:
            self._end_open_call(call_id)
