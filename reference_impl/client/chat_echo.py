"""Opaque thinking of a chat answer, to be sent back in the fields in which it came.

Copilot sends one `reasoning_opaque`; OpenRouter sends `reasoning_details` in fragments, which
belong together where index and type agree, and wants the merged list back unmodified. LiteLLM sends
`thinking_blocks` in fragments, too: a signature ends a block, and so does a redacted one. Google's
endpoint signs calls in their `extra_content`, which goes back on the call on which it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .chat_fields import BLOCKS, DETAILS, OPAQUE
from .payload import object_of, objects_of, text_of

EXTRAS: Final = "extra_contents"
"""By the position of a call, as text; no field of the wire."""

_GROWING: Final = ("text", "summary", "data")


class Echo:
    """Gathers what the deltas of one choice bring."""

    def __init__(self) -> None:
        self._opaque = ""
        self._details: dict[tuple[str, str], dict[str, Any]] = {}
        self._texts: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._blocks: list[tuple[dict[str, Any], list[str]]] = []
        self._extras: dict[str, dict[str, Any]] = {}

    def add(self, delta: Mapping[str, Any]) -> None:
        """Note a delta, or a whole message."""
        self._opaque = text_of(delta.get(OPAQUE)) or self._opaque
        for at, detail in enumerate(objects_of(delta.get(DETAILS))):
            self._merge((str(detail.get("index", at)), str(detail.get("type"))), detail)
        for block in objects_of(delta.get(BLOCKS)):
            self._block(block)
        for at, call in enumerate(objects_of(delta.get("tool_calls"))):
            if extra := object_of(call.get("extra_content")):
                self._extras[str(call.get("index", at))] = extra

    def _merge(self, key: tuple[str, str], detail: Mapping[str, Any]) -> None:
        kept = self._details.setdefault(key, {})
        texts = self._texts.setdefault(key, {})
        for name, value in detail.items():
            if name in _GROWING and isinstance(value, str):
                texts.setdefault(name, []).append(value)
            elif value is not None or name not in kept:
                kept[name] = value

    def _block(self, block: Mapping[str, Any]) -> None:
        kept, texts = self._blocks[-1] if self._blocks else ({}, [])
        if not (_is_thinking(block) and _is_thinking(kept)) or text_of(kept.get("signature")):
            kept, texts = {}, []
            self._blocks.append((kept, texts))
        kept.update({name: value for name, value in block.items() if value is not None})
        texts.append(text_of(block.get("thinking")))

    def fields(self) -> dict[str, Any]:
        """The fields of the assistant message that goes back."""
        fields: dict[str, Any] = {OPAQUE: self._opaque} if self._opaque else {}
        if self._extras:
            fields[EXTRAS] = self._extras
        details = [
            {**kept, **{name: "".join(texts) for name, texts in self._texts[key].items()}}
            for key, kept in self._details.items()
        ]
        if details:
            fields[DETAILS] = details
        blocks = [
            {**kept, "thinking": "".join(texts)} if _is_thinking(kept) else kept
            for kept, texts in self._blocks
        ]
        return {**fields, BLOCKS: blocks} if blocks else fields


def _is_thinking(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "thinking"
