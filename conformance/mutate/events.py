"""Operators on typed events: what begins, ends and numbers them, and unknown events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from conformance.editing.deltas import delta_groups, delta_places, is_restated
from conformance.editing.edits import (
    double_piece,
    double_stream,
    drop_piece,
    first_and_last,
    move_before,
)
from conformance.editing.operator import Edit, OperatorTable
from conformance.editing.stream import Stream
from conformance.mutate.texts import long_runs, make_cumulative

EVENTS: Final = OperatorTable()


def _start_events(stream: Stream) -> list[int]:
    return first_and_last(stream, stream.layout.starts)


def _end_events(stream: Stream) -> list[int]:
    return first_and_last(stream, stream.layout.ends)


def _single_ends(stream: Stream) -> list[int]:
    layout = stream.layout
    return first_and_last(stream, [kind for kind in layout.ends if kind not in layout.repeatable])


def _end_of_text(stream: Stream, place: int) -> int:
    """Place of the event that ends the text that a delta adds to; 0 where there is none."""
    return _first_of_text(stream, place, _text_ends(stream, stream.pieces[place].type))


def _text_ends(stream: Stream, kind: str) -> list[int]:
    """Places of events that end texts of a type of delta."""
    return stream.typed(stream.layout.text_ends.get(kind, ""))


def _first_of_text(stream: Stream, place: int, ends: Iterable[int]) -> int:
    keys = [key.split(".") for key in stream.layout.text_keys]
    wanted = [stream.value_at(place, *key) for key in keys]
    fitting = (n for n in ends if [stream.value_at(n, *key) for key in keys] == wanted)
    return next(fitting, 0)


def _ended_deltas(stream: Stream) -> list[int]:
    """Deltas whose text is ended."""
    if not stream.layout.text_ends:
        return []
    found = [(place, stream.pieces[place].type) for place in delta_places(stream)]
    ends = {kind: _text_ends(stream, kind) for kind in {kind for _, kind in found}}
    return [place for place, kind in found if _first_of_text(stream, place, ends[kind])]


def _restated_deltas(stream: Stream) -> list[int]:
    """Deltas whose text is stated as a whole later; not those of what broke off before."""
    if not stream.layout.restates:
        return []
    groups = delta_groups(stream)
    stated = {each.place for group in groups if is_restated(stream, group) for each in group}
    return [place for place in _ended_deltas(stream) if place in stated]


@EVENTS.edit("X5-delta-after-end", _ended_deltas)
def _repeat_after_end(stream: Stream, site: int) -> Stream:
    """A delta comes again after its text was stated."""
    return stream.insert(_end_of_text(stream, site) + 1, stream.pieces[site])


def _neighbouring_deltas(stream: Stream) -> list[int]:
    """Deltas that are followed by another one of the same text."""
    found = {
        one.place
        for group in delta_groups(stream)
        for one, two in pairwise(group)
        if one.place + 1 == two.place and one.text + two.text != two.text + one.text
    }
    return [place for place in _restated_deltas(stream) if place in found]


def _long_runs(stream: Stream) -> list[int]:
    return [] if stream.layout.chunk else long_runs(stream)


def _restated_thinking(stream: Stream) -> Sequence[int]:
    return [0] if delta_places(stream, "thinking") and _restated_deltas(stream) else []


def _opening_places(stream: Stream) -> list[int]:
    return stream.typed(*stream.layout.openings)[:1]


def _after_opening(stream: Stream) -> list[int]:
    return [n + 1 for n in _opening_places(stream) if n + 1 < len(stream.pieces)]


def _named_types(stream: Stream) -> list[int]:
    """Events whose type an event line has to name."""
    found = stream.events() if stream.layout.named_events else ()
    return [n for n, piece in found if piece.type and piece.kind == "event"]


def _with_event_line(stream: Stream) -> list[int]:
    return [n for n in _named_types(stream) if stream.pieces[n].name]


def _name_event(name: str) -> Edit:
    return lambda stream, site: stream.swap(site, stream.pieces[site].with_name(name))


def _numbered_events(stream: Stream) -> list[int]:
    return [n for n, _ in stream.events() if stream.number_at(n) is not None]


def _later_numbers(stream: Stream) -> list[int]:
    return _numbered_events(stream)[1:]


def _number_from(stream: Stream, site: int, change: int) -> Stream:
    """Numbers that differ by this much, from the site on."""
    pieces, key = list(stream.pieces), stream.layout.number
    for place in range(site, len(pieces)):
        if (known := pieces[place].number(key)) is not None:
            pieces[place] = pieces[place].with_number(key, known + change)
    return stream.with_pieces(pieces)


def _skip_number(stream: Stream, site: int) -> Stream:
    return _number_from(stream, site, 1)


@EVENTS.edit("I1-repeat", _later_numbers, renumbers=False)
def _repeat_number(stream: Stream, site: int) -> Stream:
    """A sequence number comes twice."""
    number = (stream.number_at(site) or 1) - 1
    return stream.swap(site, stream.pieces[site].with_number(stream.layout.number, number))


def _json_objects(stream: Stream) -> list[int]:
    return [n for n, piece in stream.events() if isinstance(piece.payload, dict)]


@EVENTS.edit("N4-unknown-key", _json_objects, "pass")
def _add_unknown_key(stream: Stream, site: int) -> Stream:
    """An event has an unknown key."""
    chunk = stream.layout.chunk
    stream = stream.with_value(site, ("x_vendor",), {"note": "unknown", "n": 1})
    if chunk is not None and stream.value_at(site, *chunk.message):
        return stream.with_value(site, (*chunk.message, "x_vendor"), "unknown")
    return stream


def _later_events(stream: Stream) -> list[int]:
    return [n for n, piece in stream.events() if piece.kind != "body"][1:]


def _later_sse_events(stream: Stream) -> list[int]:
    """Lines have no types, so a client takes each for a piece of the answer."""
    if "ping" in stream.layout.refuses:
        return []
    return [n for n in _later_events(stream) if stream.pieces[n].kind == "event"]


def _before_known(stream: Stream) -> list[int]:
    return _later_events(stream) if stream.layout.unknown_event else []


def _insert_event(payload: Callable[[Stream], dict[str, Any]], name: str = "") -> Edit:
    """Another event before this one, written and numbered as it is."""

    def edit(stream: Stream, site: int) -> Stream:
        sample = stream.pieces[site]
        new = sample.with_payload(stream.numbered(site, payload(stream)))
        new = new.with_name(name or new.type) if sample.name or name else new
        return stream.insert(site, new)

    return edit


EVENTS.add("X1-no-start", "A response, item, part or block is not announced.", most=8)(
    _start_events, drop_piece
)
EVENTS.add("X2-no-end", "A text, part, item, block or response is not closed.", most=8)(
    _end_events, drop_piece
)
EVENTS.add("X3-start-twice", "Something is announced twice.", most=8)(_start_events, double_piece)
EVENTS.add("X3-end-twice", "Something is closed twice.", most=8)(_single_ends, double_piece)
EVENTS.add("X6-duplicate-delta", "A delta is sent twice.")(_restated_deltas, double_piece)
EVENTS.add("X7-cumulative", "Deltas repeat the whole text so far.")(_long_runs, make_cumulative)
EVENTS.add("X8-two-cycles", "The stream is sent twice.")(_opening_places, double_stream)
EVENTS.add("X14-lost-delta", "A delta is lost.")(_restated_deltas, drop_piece)
EVENTS.add("X18-before-created", "Something comes before the opening event.")(
    _after_opening, move_before
)
EVENTS.add("F11-misnamed", "The event line names another type than the payload.")(
    _named_types, _name_event("message.delta")
)
EVENTS.add("F12-unnamed", "An event lost its event line.")(_with_event_line, _name_event(""))
EVENTS.add("I1-gap", "A sequence number is left out.", renumbers=False)(
    _later_numbers, _skip_number
)
EVENTS.add("I1-offset", "The numbering starts at another number.", renumbers=False)(
    lambda stream: _numbered_events(stream)[:1], _skip_number
)
EVENTS.add("N5-unknown-event", "An event of an unknown type comes in between.", "pass")(
    _before_known,
    _insert_event(lambda stream: {"type": stream.layout.unknown_event, "note": "unknown"}),
)
EVENTS.add("N5-ping", "A ping event comes in between.", "pass")(
    _later_sse_events, _insert_event(lambda _: {"type": "ping"}, "ping")
)
EVENTS.add("X5-delta-late", "A delta comes after its text was stated.")(
    _ended_deltas, lambda stream, site: stream.move(site, _end_of_text(stream, site) + 1)
)
EVENTS.add("X13-swapped-deltas", "Two deltas are turned round.")(
    _neighbouring_deltas, lambda stream, site: stream.move(site, site + 2)
)
EVENTS.add("X14-no-thinking-deltas", "All thinking deltas are lost.")(
    _restated_thinking, lambda stream, _site: stream.without(*delta_places(stream, "thinking"))
)
EVENTS.add("I1-reset", "The numbering starts again.", renumbers=False)(
    _later_numbers, lambda stream, site: _number_from(stream, site, -(stream.number_at(site) or 0))
)
EVENTS.add("I1-no-number", "An event has no sequence number.", renumbers=False)(
    _later_numbers, lambda stream, site: stream.without_value(site, (stream.layout.number,))
)
