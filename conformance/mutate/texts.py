"""Operators on texts: split and merged deltas, thinking and opaque data shown as text."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final

from conformance.core.json_values import value_at
from conformance.editing.chunks import opening_places, plain_places
from conformance.editing.deltas import (
    are_whole,
    delta_groups,
    find_deltas,
    joined_text,
    restate_delta,
    restate_in_parts,
    rewrite_deltas,
    split_delta,
)
from conformance.editing.layout import Delta
from conformance.editing.operator import OperatorTable
from conformance.editing.stream import Stream

ENOUGH: Final = 40
"""Characters of thinking of which a copy shows."""
_WHOLE: Final = 64
"""Characters of thinking of which the whole shows when it comes again."""
_ENOUGH_OPAQUE: Final = 16
_SHORT: Final = range(16, 32)
"""Characters of thinking that is short and of which a copy shows all the same."""
_FEW: Final = 40


TEXTS: Final = OperatorTable()


def long_runs(stream: Stream) -> list[int]:
    """Numbers of texts of which more than four deltas come one right after the other.

    In so many, sums are distinguished from increments.
    """
    groups = enumerate(delta_groups(stream, "thinking", "text"))
    runs = [(n, group) for n, group in groups if len(group) > 4]
    return [n for n, group in runs if group[-1].place - group[0].place + 1 == len(group)]


def make_cumulative(stream: Stream, site: int) -> Stream:
    """Every delta of one text repeats what came before."""
    group = delta_groups(stream, "thinking", "text")[site]
    whole, edits = "", []
    for each in group:
        whole += each.text
        edits.append((each, whole))
    return rewrite_deltas(stream, edits)


def _long_groups(stream: Stream) -> list[int]:
    """Numbers of texts of thinking that are so long that a copy shows, and can be sent again."""
    if "split delta" in stream.layout.refuses or stream.is_body:
        return []
    groups = enumerate(delta_groups(stream, "thinking"))
    long = [(n, group) for n, group in groups if sum(len(d.text) for d in group) >= _WHOLE]
    # What else comes between may part one thought from the next.
    return [n for n, group in long if group[-1].place - group[0].place + 1 == len(group)]


@TEXTS.edit("X24-whole-again", _long_groups)
def _repeat_whole(stream: Stream, site: int) -> Stream:
    """The last delta of a thought is followed by one with all of it."""
    group = delta_groups(stream, "thinking")[site]
    whole = "".join(each.text for each in group)
    return restate_in_parts(stream, group[-1], group[-1].text, whole)


def _splittable_deltas(stream: Stream) -> list[int]:
    """Numbers of deltas of two characters or more that can be sent in two."""
    if "split delta" in stream.layout.refuses or stream.is_body:
        return []
    every, free = find_deltas(stream), _repeatable_places(stream)
    held = Counter(each.place for each in every)
    return [
        n
        for n, each in enumerate(every)
        if len(each.text) > 1 and held[each.place] == 1 and each.place in free
    ]


def _repeatable_places(stream: Stream) -> set[int]:
    """Places of events that do nothing that is done once: open, name a call, finish, count."""
    once = stream.layout.once
    found = {
        place
        for place, piece in stream.events()
        if all(value_at(piece.payload, *path) is None for path in once)
    }
    if stream.layout.chunk is None:
        return found
    return found & {*plain_places(stream)} - opening_places(stream)


@TEXTS.edit("N7-split-delta", _splittable_deltas, "pass")
def _split_in_two(stream: Stream, site: int) -> Stream:
    """A delta comes in two."""
    delta = find_deltas(stream)[site]
    half = len(delta.text) // 2
    return split_delta(stream, delta, delta.text[:half], delta.text[half:])


def _mergeable_deltas(stream: Stream) -> list[int]:
    """Numbers of deltas whose successor differs in its text only, and in what is volatile."""
    every, free = find_deltas(stream), set(_splittable_deltas(stream))
    return [
        n
        for n, (one, two) in enumerate(pairwise(every))
        if {n, n + 1} <= free
        and one.place + 1 == two.place
        and one.group == two.group
        and one.paths == two.paths
        and "<" not in one.text + two.text
    ]


@TEXTS.edit("N8-merged-deltas", _mergeable_deltas, "pass")
def _merge_with_next(stream: Stream, site: int) -> Stream:
    """Two deltas come as one."""
    one, two = find_deltas(stream)[site : site + 2]
    return rewrite_deltas(stream, [(one, one.text + two.text)]).without(two.place)


def _emptiable_deltas(stream: Stream) -> list[int]:
    layout = stream.layout.chunk
    is_refused = "empty delta" in stream.layout.refuses
    if is_refused or not (layout is None or layout.free_empty_texts):
        return []
    return _splittable_deltas(stream)


@TEXTS.edit("N6-empty-delta", _emptiable_deltas, "pass")
def _insert_empty(stream: Stream, site: int) -> Stream:
    """A delta has no text."""
    delta = find_deltas(stream)[site]
    piece = stream.pieces[delta.place]
    return stream.insert(delta.place, piece.with_payload(delta.payload(piece, "")))


def _last_arguments(stream: Stream) -> list[int]:
    """The last fragment of the last call, where its arguments came whole."""
    groups = [group for group in delta_groups(stream, "arguments") if are_whole(group)]
    return [max(each.place for group in groups for each in group)] if groups else []


@TEXTS.edit("T3-broken-arguments", _last_arguments)
def _shorten_arguments(stream: Stream, site: int) -> Stream:
    """The last character of the arguments is lost."""
    delta = next(each for each in find_deltas(stream, "arguments") if each.place == site)
    return rewrite_deltas(stream, [(delta, delta.text[:-1])])


def _opaque_data(stream: Stream) -> list[str]:
    """The first and the last piece of opaque data."""
    found = (stream.layout.opaque(piece) for _, piece in stream.events())
    long_enough = list(dict.fromkeys(data for data in found if len(data) >= _ENOUGH_OPAQUE))
    return [*long_enough[:1], *long_enough[1:][-1:]]


def _opaque_insertions(stream: Stream) -> list[int]:
    return list(range(len(find_deltas(stream, "text")) * len(_opaque_data(stream))))


@TEXTS.edit("S7-opaque-shown", _opaque_insertions)
def _show_opaque(stream: Stream, site: int) -> Stream:
    """Opaque data is visible text."""
    found = _opaque_data(stream)
    delta = find_deltas(stream, "text")[site // len(found)]
    return restate_delta(stream, delta, f"{delta.text} {found[site % len(found)]}")


def _last_text(stream: Stream) -> list[int]:
    """The last delta of the answer, where there is so much thinking that a copy of it shows."""
    texts, choices = find_deltas(stream, "text"), {each.choice for each in find_deltas(stream)}
    is_enough = len(joined_text(stream, "thinking")) >= ENOUGH and len(choices) == 1
    return [len(texts) - 1] if is_enough and texts else []


@TEXTS.edit("E2-thinking-as-text", _last_text)
def _repeat_thinking(stream: Stream, site: int) -> Stream:
    """The thinking is repeated as text."""
    delta = find_deltas(stream, "text")[site]
    return restate_delta(stream, delta, f"{delta.text}\n{joined_text(stream, 'thinking')}")


def _short_thinking(stream: Stream) -> list[int]:
    """The last delta of the answer, where the thinking is short."""
    is_short = len(joined_text(stream, "thinking").strip()) in _SHORT
    texts, choices = find_deltas(stream, "text"), {each.choice for each in find_deltas(stream)}
    return [len(texts) - 1] if is_short and texts and len(choices) == 1 else []


def _few_thoughts(stream: Stream) -> list[int]:
    """The first thinking of a stream whose thinking comes in few deltas."""
    found = _thinking_deltas(stream)
    return [found[0].place] if 0 < len(found) <= _FEW else []


def _thinking_deltas(stream: Stream) -> list[Delta]:
    return find_deltas(stream, "thinking")


@TEXTS.edit("X18-blank-thinking", _few_thoughts)
def _blank_thinking(stream: Stream, _site: int) -> Stream:
    """All thinking is white space."""
    for n in range(len(_thinking_deltas(stream))):
        stream = restate_delta(stream, _thinking_deltas(stream)[n], "\n")
    return stream


def _spoken_deltas(stream: Stream) -> list[int]:
    return list(range(len(find_deltas(stream, "thinking", "text"))))


@TEXTS.edit("F13-cut-character", _spoken_deltas)
def _cut_character(stream: Stream, site: int) -> Stream:
    """A character was cut, and a replacement character stands for it."""
    delta = find_deltas(stream, "thinking", "text")[site]
    return restate_delta(stream, delta, f"{delta.text[:-1]}\ufffd")


TEXTS.add("E2-short-thinking-as-text", "Thinking that is short is repeated as text.")(
    _short_thinking, _repeat_thinking
)
