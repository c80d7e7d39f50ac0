"""Calls of a UI message stream that an output may belong to.

A call is known once its input is whole, or where a message of the request has it. Where the request
is not known, the first parts of a message may go on with a call of the message before; once the
model has shown anything, an output of a call that nobody made is astray.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Request
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.open_parts import MOST_OPEN

_WHOLE: Final = frozenset({"tool-input-available", "tool-input-error"})
_AFTERWARDS: Final = frozenset(
    {
        *("tool-output-available", "tool-output-error", "tool-output-denied"),
        "tool-approval-request",
    }
)


class KnownCalls:
    """Ids of the calls that came so far; `has_shown` once the message has text or a call."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._is_asked = False
        self.has_shown = False

    def read_request(self, request: Request) -> None:
        """Takes the calls of the messages that a request brings."""
        messages = mapping(request.json).get("messages")
        if isinstance(messages, list):
            self._is_asked = True
            for message in objects(messages):
                for part in objects(message.get("parts")):
                    self._add(string(part.get("toolCallId")))

    def next_message(self) -> None:
        """Another message begins; it may go on with a call of the one before."""
        self.has_shown = False

    def about(self, kind: str, part: Mapping[str, Any]) -> dict[str, bool]:
        """`call_known` of a part that belongs to a call; nothing where that is not known."""
        call_id = string(part.get("toolCallId"))
        if kind in _WHOLE:
            self._add(call_id)
        self.has_shown = self.has_shown or kind not in _AFTERWARDS
        if kind not in _AFTERWARDS or not call_id or len(self._ids) >= MOST_OPEN:
            return {}
        is_known = call_id in self._ids
        return {"call_known": is_known} if is_known or self._is_asked or self.has_shown else {}

    def _add(self, call_id: str) -> None:
        if call_id and len(self._ids) < MOST_OPEN:
            self._ids.add(call_id)
