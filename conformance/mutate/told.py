"""Texts added to a stream so that its own statements agree with them.

A leak or a doubled thought must not be found because a later event repeats the text without it.
"""

from __future__ import annotations

from typing import Any

from conformance.mutate.stream import Stream
from conformance.mutate.texts import Delta, groups

__all__ = ["restated", "told", "told_as"]


def restated(value: Any, old: str, new: str) -> Any:
    """A copy in which every string that is `old` is `new`."""
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, list):
        return [restated(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: restated(each, old, new) for key, each in value.items()}
    return value


def told(stream: Stream, delta: Delta, text: str) -> Stream:
    """The stream with another text in one delta, and in every event that repeats the whole."""
    group = next(g for g in groups(stream, delta.kind) if delta in g)
    old = "".join(each.text for each in group)
    new = "".join(text if each == delta else each.text for each in group)
    edited = stream.changed(delta.place, delta.payload(stream.pieces[delta.place], text))
    if not old:
        return edited
    for place, piece in stream.events():
        # A delta that happens to be the whole text stays what it is.
        if place != delta.place and all(each.place != place for each in group):
            payload = restated(piece.payload, old, new)
            if payload != piece.payload:
                edited = edited.changed(place, payload)
    return edited


def told_as(stream: Stream, delta: Delta, *texts: str) -> Stream:
    """As `told`, the delta's text sent in several deltas one after the other."""
    whole = told(stream, delta, "".join(texts))
    piece = whole.pieces[delta.place]
    return whole.swapped(delta.place, *(piece.saying(delta.payload(piece, text)) for text in texts))
