"""Operators on what holds a text: its key is misspelt, or its value is of another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.core.json_values import Path, cut_at, put_at, value_at
from conformance.editing.deltas import find_deltas
from conformance.editing.layout import Delta
from conformance.editing.operator import Edit, OperatorTable
from conformance.editing.stream import Stream

LOST_TEXTS: Final = OperatorTable()


def misspelt(word: str) -> str:
    """The word without the letter in its middle."""
    return word[: len(word) // 2] + word[len(word) // 2 + 1 :]


def with_misspelt_key(payload: Any, path: Path) -> Any:
    """The payload with the value at a path under a key that is misspelt."""
    *above, key = path
    return put_at(cut_at(payload, path), (*above, misspelt(str(key))), value_at(payload, *path))


def _edge_deltas(stream: Stream) -> list[Delta]:
    """The deltas of a stream, each kind of text by its first one and its last one."""
    every = [] if stream.is_body else find_deltas(stream)
    firsts = {each.kind: number for number, each in reversed([*enumerate(every)])}
    lasts = {each.kind: number for number, each in enumerate(every)}
    return [every[number] for number in sorted({*firsts.values(), *lasts.values()})]


def _edge_places(stream: Stream) -> list[int]:
    return list(range(len(_edge_deltas(stream))))


def _in_every_copy(change: Callable[[Any, Path], Any]) -> Edit:
    """An edit of a delta, in every place of its event that holds its text."""

    def edit(stream: Stream, site: int) -> Stream:
        delta = _edge_deltas(stream)[site]
        payload = stream.pieces[delta.place].payload
        for path in delta.paths:
            payload = change(payload, path)
        return stream.with_payload(delta.place, payload)

    return edit


def _set_value(value: Any) -> Edit:
    return _in_every_copy(lambda payload, path: put_at(payload, path, value))


LOST_TEXTS.add("N15-text-key-misspelt", "The key of a text lacks a letter.", most=4)(
    _edge_places, _in_every_copy(with_misspelt_key)
)
LOST_TEXTS.add("N15-text-is-a-list", "A list of texts comes instead of a text.", most=4)(
    _edge_places, _set_value(["Hm."])
)
LOST_TEXTS.add("N15-text-is-a-number", "A number comes instead of a text.", most=4)(
    _edge_places, _set_value(7)
)
LOST_TEXTS.add("N15-text-is-an-object", "An object comes instead of a text.", most=4)(
    _edge_places, _set_value({"other": "Hm."})
)
