"""The texts of a stream: found, changed, and changed wherever later events repeat them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from conformance.core.json_values import NOT_JSON, decode_json
from conformance.editing.layout import Delta, TextKind
from conformance.editing.stream import Stream


def find_deltas(stream: Stream, *kinds: TextKind) -> list[Delta]:
    """Every delta that is not empty, in stream order; all kinds where none is named."""
    every = (each for n, piece in stream.events() for each in stream.layout.find_deltas(n, piece))
    if stream.layout.owners is not None:
        owner_of = stream.layout.owners(stream.pieces)
        owned = ((each, *owner_of(stream.pieces[each.place])) for each in every)
        every = (replace(each, kind=kind, choice=choice) for each, kind, choice in owned)
    return [each for each in every if each.text and (not kinds or each.kind in kinds)]


def delta_places(stream: Stream, *kinds: TextKind) -> list[int]:
    return [each.place for each in find_deltas(stream, *kinds)]


def joined_text(stream: Stream, kind: TextKind) -> str:
    return "".join(each.text for each in find_deltas(stream, kind))


def delta_groups(stream: Stream, *kinds: TextKind) -> list[list[Delta]]:
    """Deltas that add to the same text, each group in stream order.

    Where texts have no name of their own, one that ended is another than the next of its kind.
    """
    layout = stream.layout
    ends = {} if layout.text_keys else {k: stream.typed(e) for k, e in layout.text_ends.items()}
    found: dict[tuple[Any, ...], list[Delta]] = {}
    for each in find_deltas(stream, *kinds):
        ended = bisect(ends.get(stream.pieces[each.place].type, ()), each.place)
        found.setdefault((*each.group, ended), []).append(each)
    return list(found.values())


def are_whole(deltas: Sequence[Delta]) -> bool:
    """Whether fragments of arguments, joined, are JSON."""
    return decode_json("".join(each.text for each in deltas)) is not NOT_JSON


def rewrite_deltas(stream: Stream, texts: list[tuple[Delta, str]]) -> Stream:
    """The stream with other texts in these deltas, and nowhere else."""
    for delta, text in texts:
        payload = delta.payload(stream.pieces[delta.place], text)
        stream = stream.with_payload(delta.place, payload)
    return stream


def replace_strings(value: Any, old: str, new: str) -> Any:
    """A copy in which every string that is `old` is `new`."""
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, list):
        return [replace_strings(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: replace_strings(each, old, new) for key, each in value.items()}
    return value


def is_restated(stream: Stream, group: Sequence[Delta]) -> bool:
    """Whether an event after these deltas states the text that they add up to."""
    whole, last = "".join(each.text for each in group), group[-1].place
    later = (piece.payload for n, piece in stream.events() if n > last)
    return any(replace_strings(payload, whole, "") != payload for payload in later)


def restate_delta(stream: Stream, delta: Delta, text: str) -> Stream:
    """The stream with another text in one delta, and in every event that repeats the whole.

    A leak or a doubled thought must not be found because a later event repeats the text without it.
    """
    group = next(g for g in delta_groups(stream, delta.kind) if delta in g)
    old = "".join(each.text for each in group)
    new = "".join(text if each == delta else each.text for each in group)
    edited = rewrite_deltas(stream, [(delta, text)])
    if not old:
        return edited
    for place, piece in stream.events():
        # A delta that happens to be the whole text stays what it is.
        if place != delta.place and all(each.place != place for each in group):
            payload = replace_strings(piece.payload, old, new)
            if payload != piece.payload:
                edited = edited.with_payload(place, payload)
    return edited


def restate_in_parts(stream: Stream, delta: Delta, *texts: str) -> Stream:
    """As `restate_delta`, the text sent in several deltas one after the other."""
    whole = restate_delta(stream, delta, "".join(texts))
    return split_delta(whole, delta, *texts)


def split_delta(stream: Stream, delta: Delta, *texts: str) -> Stream:
    """The delta's event sent once for each of these texts."""
    piece = stream.pieces[delta.place]
    pieces = (piece.with_payload(delta.payload(piece, text)) for text in texts)
    return stream.swap(delta.place, *pieces)
