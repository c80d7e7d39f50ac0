"""String fields of a delta that no dialect knows and that carry text as thinking does.

Text comes in many pieces that differ, with spaces between words; ids, roles and labels do not.
Bounded: `MOST_FIELDS` paths are watched, and of each only its counts and its first piece are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.dialects.json_edge import mapping

MOST_FIELDS: Final = 32
LEAST_PIECES: Final = 2
LEAST_LENGTH: Final = 8
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")  # a dot would read as a step of a path

_KNOWN: Final = frozenset(
    {
        *("role", "content", "refusal", "name", "function_call", "tool_calls", "audio"),
        *("reasoning", "reasoning_content", "reasoning_text", "reasoning_opaque"),
        *("reasoning_details", "thinking_blocks", "provider_specific_fields", "annotations"),
        *("channel", "token_id", "token_ids", "provider_metadata"),
    }
)


class _Field(Struct):
    first: str
    pieces: int = 0
    length: int = 0
    differs: bool = False
    has_space: bool = False

    def add(self, piece: str) -> None:
        self.pieces += 1
        self.length += len(piece)
        self.differs = self.differs or piece != self.first
        self.has_space = self.has_space or any(map(str.isspace, piece))

    @property
    def is_text(self) -> bool:
        enough = self.pieces >= LEAST_PIECES and self.length >= LEAST_LENGTH
        return enough and self.differs and self.has_space


class PrivateFields:
    """Watches the deltas of Chat Completions; other dialects type their texts."""

    def __init__(self) -> None:
        self._fields: dict[str, _Field] = {}

    def see(self, event: Event) -> None:
        if event.type != "chat.choice":
            return
        for path, piece in _unknown_strings(mapping(event.data.get("delta"))):
            field = self._fields.get(path)
            if field is None:
                if len(self._fields) >= MOST_FIELDS:
                    continue
                field = self._fields[path] = _Field(piece)
            field.add(piece)

    def thinking(self) -> tuple[str, ...]:
        """Paths of fields that carry text, longest text first."""
        texts = [(field.length, path) for path, field in self._fields.items() if field.is_text]
        return tuple(path for _, path in sorted(texts, key=lambda each: (-each[0], each[1])))


def _unknown_strings(delta: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(path, text) of unknown fields, and of the fields of unknown objects; empty ones left out."""
    for name, value in delta.items():
        if name in _KNOWN or not _NAME.fullmatch(name):
            continue
        if isinstance(value, dict):
            yield from (
                (f"{name}.{inner}", text)
                for inner, text in value.items()
                if isinstance(text, str) and text and _NAME.fullmatch(inner)
            )
        elif isinstance(value, str) and value:
            yield name, value
