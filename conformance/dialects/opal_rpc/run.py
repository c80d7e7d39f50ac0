"""One run of the agent, as its command line would show it.

Rule 1: nothing on the wire ends a thought or a message: text, a call, another start, or the end of
        the turn does. A delta that comes without a start begins what nobody announced, so thinking
        that goes on after text is a block of its own.
Rule 2: a call of a tool starts and ends with its execution.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import arguments_text, string
from conformance.dialects.open_parts import OpenParts, PartKind

OVERFLOW: Final = "opal.rpc.overflow"


class AgentRun(OpenParts):
    """What a run says, turn after turn."""

    overflow = OVERFLOW

    def start_thought(self) -> None:
        """Thinking is announced."""
        self.end_texts()
        self._begin_part("reasoning", "", explicit=True)

    def add(self, kind: PartKind, event: dict[str, Any]) -> None:
        """A piece of thinking or of text; an empty one says nothing."""
        text = string(event.get("delta"))
        if text and (kind, "") not in self._open:
            self.end_texts()
        self._add_text(kind, "", text)

    def end_texts(self) -> None:
        """Ends the thought or the message that is open."""
        for block in self._open.values():
            self._blocks.close(block)
        self._open.clear()

    def start_tool(self, event: dict[str, Any]) -> None:
        """A tool begins to run, with all its arguments."""
        self.end_texts()
        name = string(event.get("tool"))
        call = self._start_call(string(event.get("call_id")), name, is_hosted=True)
        if call is not None and (text := arguments_text(event.get("args"))):
            call.add(self._sink, text)

    def end_tool(self, event: dict[str, Any]) -> None:
        """A tool is done."""
        self._end_open_call(string(event.get("call_id")))
