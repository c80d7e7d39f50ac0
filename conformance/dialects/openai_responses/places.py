"""Where an event belongs that leaves out the index of its item or of its part.

Rule 1: an index that the event carries counts, be it right or wrong: nothing is inferred for it.
Rule 2: an item without `output_index` has the place that it was announced in; its events are those
        with its id, or with its `call_id` (llama.cpp names calls so).
Rule 3: an event under an unannounced id, or under none, belongs to the last open item of
        its type. Where several are open, an unknown id is an item of its own, never announced.
Rule 4: a part without index has the place that it was added in; the texts and the end that follow
        are of the part added last, else of part 0.
Rule 5: what cannot be placed so has no place: rules that need one say which field is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping, string, whole
from conformance.dialects.openai_responses.items import MOST_ITEMS, TOOL_TYPES
from conformance.dialects.openai_responses.vocabulary import (
    DELTAS,
    DONES,
    ITEM_ADDED,
    ITEM_DONE,
    PART_DONES,
    PARTS,
    PARTS_ADDED,
    TextKind,
)

_ITEM: Final = "output_index"
_CONTENT, _SUMMARY = "content_index", "summary_index"
_TYPES: Final[Mapping[TextKind, str]] = {
    "raw": "reasoning",
    "summary": "reasoning",
    "text": "message",
    "refusal": "message",
    "arguments": "call",
}
_TEXTS: Final[Mapping[str, TextKind]] = {**DELTAS, **{name: of for name, (of, _) in DONES.items()}}
_ADDED: Final = frozenset({*PARTS_ADDED, "response.reasoning_part.added"})
# Type of event -> the index of its part.
_PART_FIELDS: Final[Mapping[str, str]] = {
    name: _SUMMARY if name.startswith("response.reasoning_summary") else _CONTENT
    for name in (*_TEXTS, *_ADDED, *PART_DONES, "response.output_text.annotation.added")
    if _TEXTS.get(name) != "arguments"
}


class _Placed:
    """An item: its index, sent or inferred, its type, and the parts added last, by field."""

    __slots__ = ("index", "parts", "type")

    def __init__(self, index: int, kind: str) -> None:
        self.index = index
        self.type = kind
        self.parts: dict[str, int] = {}


class Places:
    """The places of one response's items, of at most `MOST_ITEMS`."""

    __slots__ = ("_at", "_by_id", "_count", "_next", "_open")

    def __init__(self) -> None:
        self._at: dict[int, _Placed] = {}
        self._by_id: dict[str, _Placed] = {}
        self._count = 0
        self._next = 0
        self._open: dict[str, dict[_Placed, None]] = {}  # by type, in order of announcement

    def place(self, kind: str, fields: dict[str, Any]) -> dict[str, int] | None:
        """The indices that an event leaves out, as far as they can be inferred."""
        part_field = _PART_FIELDS.get(kind)
        lacks_item = fields.get(_ITEM) is None
        lacks_part = part_field is not None and fields.get(part_field) is None
        if kind == ITEM_ADDED:
            item = self._announce(fields)
        elif lacks_item or lacks_part or kind in _ADDED or kind == ITEM_DONE:
            item = self._find(kind, fields, lacks_item=lacks_item)
        else:
            return None
        if item is None:
            return None
        if kind == ITEM_DONE:
            self._open.get(item.type, {}).pop(item, None)
        found = {_ITEM: item.index} if lacks_item else {}
        if part_field is not None:
            part = _part(item, part_field, fields, is_new=kind in _ADDED)
            if lacks_part:
                found[part_field] = part
        return found or None

    def _announce(self, fields: dict[str, Any]) -> _Placed | None:
        data = mapping(fields.get("item"))
        index = whole(fields.get(_ITEM))
        before = next((self._by_id[each] for each in _ids(fields) if each in self._by_id), None)
        if index is None and fields.get(_ITEM) is not None:
            return None
        if index is None:
            index = self._next if before is None else before.index
        item = self._add(index, _type(string(data.get("type"))), _ids(fields))
        if item is not None:
            self._open.setdefault(item.type, {})[item] = None
        return item

    def _add(self, index: int, kind: str, ids: tuple[str, ...]) -> _Placed | None:
        if self._count >= MOST_ITEMS:
            return None
        self._count += 1
        self._next = max(self._next, index + 1)
        item = self._at[index] = _Placed(index, kind)
        for each in ids:
            self._by_id[each] = item
        return item

    def _find(self, kind: str, fields: dict[str, Any], *, lacks_item: bool) -> _Placed | None:
        if not lacks_item:
            index = whole(fields.get(_ITEM))
            return None if index is None else self._at.get(index)
        ids = _ids(fields)
        for each in ids:
            if each in self._by_id:
                return self._by_id[each]
        taking = self._open.get(_item_type(kind, fields), {})
        if taking and (len(taking) == 1 or not ids):
            return next(reversed(taking))
        return self._add(self._next, "", ids) if ids else None


def _ids(fields: dict[str, Any]) -> tuple[str, ...]:
    """The names of the item that an event is of."""
    item = mapping(fields.get("item"))
    named = (fields.get("item_id"), item.get("id"), item.get("call_id"))
    return tuple(each for each in named if each and isinstance(each, str))


def _type(kind: str) -> str:
    return "call" if kind in TOOL_TYPES else kind


def _item_type(kind: str, fields: dict[str, Any]) -> str:
    """The type of item that takes such an event; empty where it does not show."""
    if kind == ITEM_DONE:
        return _type(string(mapping(fields.get("item")).get("type")))
    if kind in _TEXTS:
        return _TYPES[_TEXTS[kind]]
    if kind.startswith("response.reasoning_"):
        return "reasoning"
    part = PARTS.get(string(mapping(fields.get("part")).get("type")))
    return "" if part is None else _TYPES[part[0]]


def _part(item: _Placed, field: str, fields: dict[str, Any], *, is_new: bool) -> int:
    """The part that an event is of, sent or inferred; a new one is the last from now on."""
    sent = whole(fields.get(field))
    if not is_new:
        return item.parts.get(field, 0) if sent is None else sent
    part = item.parts[field] = item.parts.get(field, -1) + 1 if sent is None else sent
    return part
