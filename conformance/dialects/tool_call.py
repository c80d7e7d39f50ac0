"""One tool call while its arguments arrive."""

from __future__ import annotations

import json
from typing import Any

from conformance.dialects.json_edge import arguments_text
from conformance.dialects.sink import Sink


class ToolCall:
    """Reports start, deltas and end; unknown `id` and `name` are left out of the events.

    A hosted call is carried out by the server: `hosted` is true in the events of no other.
    Arguments that were stated whole, other than in pieces, are those that count.
    """

    __slots__ = (
        "_choice",
        "_pieces",
        "_stated",
        "call_id",
        "index",
        "is_hosted",
        "is_open",
        "name",
    )

    def __init__(
        self, choice: int, index: int, call_id: str, name: str, *, is_hosted: bool = False
    ) -> None:
        self._choice = choice
        self._pieces: list[str] = []
        self._stated = ""
        self.index = index
        self.call_id = call_id
        self.name = name
        self.is_hosted = is_hosted
        self.is_open = True

    @property
    def has_arguments(self) -> bool:
        return bool(self._pieces)

    @property
    def arguments(self) -> str:
        """What came of them so far."""
        return "".join(self._pieces)

    def start(self, sink: Sink) -> None:
        sink.emit("tool.start", self._named())

    def add(self, sink: Sink, arguments: str) -> None:
        """Report non-empty arguments."""
        self._pieces.append(arguments)
        data = {"choice": self._choice, "index": self.index, "arguments": arguments}
        sink.emit("tool.delta", data)

    def state(self, value: Any) -> None:
        """The whole arguments; their spelling in pieces stays where it says the same."""
        text = arguments_text(value)
        self._stated = text if text and not _says_same("".join(self._pieces), value) else ""

    def end(self, sink: Sink) -> None:
        """Report the end with the whole arguments, once."""
        if not self.is_open:
            return
        self.is_open = False
        arguments = self._stated or self.arguments
        sink.emit("tool.end", {**self._named(), "arguments": arguments})

    def _named(self) -> dict[str, Any]:
        data: dict[str, Any] = {"choice": self._choice, "index": self.index}
        if self.call_id:
            data["id"] = self.call_id
        if self.name:
            data["name"] = self.name
        if self.is_hosted:
            data["hosted"] = True
        return data


def _says_same(written: str, value: Any) -> bool:
    try:
        parsed = json.loads(written)
    except (ValueError, RecursionError):
        return False
    return bool(parsed == value)
