"""What a stream of Converse was seen to do, as values of the dialect's knobs.

A knob that the stream did not show is left out. Bounded: flags alone are kept.
"""

from __future__ import annotations

from typing import Any

from conformance.core.events import Event
from conformance.core.json_values import value_at


class ConverseKnobs:
    """Observed values of the knobs of `bedrock.converse`."""

    def __init__(self) -> None:
        self._refused = False  # the request switches thinking off
        self._thought = self._spoke = self._signed = self._interleaved = False
        self._counts = 0

    def see(self, event: Event) -> None:
        match event.type:
            case "request":
                thinking = value_at(event.data, "additionalModelRequestFields", "thinking", "type")
                self._refused = thinking == "disabled"
            case "thinking.delta":
                self._thought = True
                self._interleaved = self._interleaved or self._spoke
            case "thinking.opaque":
                self._signed = self._signed or event.data.get("kind") == "signature"
            case "text.delta":
                self._spoke = True
            case "metadata":
                self._counts += 1

    def values(self, *, framed: bool) -> dict[str, Any]:
        """Observed values; messages are whole values, so rebuilt framing shows as much."""
        del framed
        found: dict[str, Any] = {}
        if self._thought:
            found["signature"] = "required" if self._signed else "none"
            if self._spoke:
                found["interleaved"] = self._interleaved
        if self._refused and (self._thought or self._spoke):
            found["thinking_off"] = "ignored" if self._thought else "obeyed"
        if self._counts:
            found["metadata"] = "once" if self._counts == 1 else "repeated"
        return found
