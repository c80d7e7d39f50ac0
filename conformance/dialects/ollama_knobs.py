"""What a stream of Ollama was seen to do, as values of the dialect's knobs.

A knob that the stream did not show is left out. Bounded: flags alone are kept.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Event
from conformance.core.json_values import value_at

_LINES: Final = frozenset({"ollama.chunk", "ollama.last"})
_TEXTS: Final = ("content", "response")
_ENDS: Final = frozenset({"ollama.last", "ollama.body"})


class OllamaKnobs:
    """Observed values of the knobs of both APIs."""

    def __init__(self) -> None:
        self._refused = False  # the request switches thinking off
        self._thought = self._spoke = self._combined = self._interleaved = False
        self._counted: bool | None = None

    def see(self, event: Event) -> None:
        match event.type:
            case "request":
                self._refused = event.data.get("think") is False
            case "thinking.delta":
                self._thought = True
                self._interleaved = self._interleaved or self._spoke
            case "text.delta":
                self._spoke = True
        if event.type in _LINES:
            message = event.data.get("message", event.data)  # of `generate` the line itself
            both = any(value_at(message, "thinking") and value_at(message, key) for key in _TEXTS)
            self._combined = self._combined or both
        if event.type in _ENDS and "eval_count" in event.data:
            self._counted = "prompt_eval_count" in event.data

    def values(self, *, framed: bool) -> dict[str, Any]:
        """Observed values; lines are whole values, so rebuilt framing shows as much."""
        del framed
        found: dict[str, Any] = {}
        if self._thought and self._spoke:
            found |= {"interleaved": self._interleaved, "combined_chunk": self._combined}
        if self._refused and (self._thought or self._spoke):
            found["think_off"] = "ignored" if self._thought else "obeyed"
        if self._counted is not None:
            found["prompt_count"] = "counted" if self._counted else "optional"
        return found
