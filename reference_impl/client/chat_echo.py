"""Opaque thinking of a chat answer, to be sent back in the fields in which it came.

Copilot sends one `reasoning_opaque`; OpenRouter sends `reasoning_details` in fragments, which
belong together where index and type agree, and wants the merged list back unmodified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reference_impl.client.chat_fields import DETAILS, OPAQUE
from reference_impl.client.payload import objects_of, text_of

_GROWING: Final = ("text", "summary", "data")


class Echo:
    """Gathers what the deltas of one choice bring."""

    def __init__(self) -> None:
        self._opaque = ""
        self._details: dict[tuple[str, str], dict[str, Any]] = {}
        self._texts: dict[tuple[str, str], dict[str, list[str]]] = {}

    def add(self, delta: Mapping[str, Any]) -> None:
        """Note a delta, or a whole message."""
        self._opaque = text_of(delta.get(OPAQUE)) or self._opaque
        for at, detail in enumerate(objects_of(delta.get(DETAILS))):
            self._merge((str(detail.get("index", at)), str(detail.get("type"))), detail)

    def _merge(self, key: tuple[str, str], detail: Mapping[str, Any]) -> None:
        kept = self._details.setdefault(key, {})
        texts = self._texts.setdefault(key, {})
        for name, value in detail.items():
            if name in _GROWING and isinstance(value, str):
                texts.setdefault(name, []).append(value)
            elif value is not None or name not in kept:
                kept[name] = value

    def fields(self) -> dict[str, Any]:
        """The fields of the assistant message that goes back."""
        fields: dict[str, Any] = {OPAQUE: self._opaque} if self._opaque else {}
        details = [
            {**kept, **{name: "".join(texts) for name, texts in self._texts[key].items()}}
            for key, kept in self._details.items()
        ]
        return {**fields, DETAILS: details} if details else fields
