"""Operators on sequence numbers, indices and ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.core.json_values import cut_at, put_at, text_at, value_at
from conformance.mutate.chunks import CHOICE, chunks, plain, tools
from conformance.mutate.lifecycle import ITEM_ADDED, PARTS_ADDED, of_item
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Piece, Stream
from conformance.mutate.texts import CHAT, RESPONSES, deltas

_R: Final = (RESPONSES,)
_C: Final = (CHAT,)


def _numbered(stream: Stream) -> list[int]:
    """Events after the first that carry a sequence number."""
    return [n for n, piece in stream.events() if piece.number is not None][1:]


def _counted(number: Callable[[int], int]) -> Callable[[Stream, int], Stream]:
    """Other numbers from the site on."""

    def edit(stream: Stream, site: int) -> Stream:
        pieces = list(stream.pieces)
        for place in range(site, len(pieces)):
            if (known := pieces[place].number) is not None:
                pieces[place] = pieces[place].numbered(number(known))
        return stream.with_pieces(pieces)

    return edit


def _repeated(stream: Stream, site: int) -> Stream:
    piece = stream.pieces[site]
    return stream.swapped(site, piece.numbered((piece.number or 1) - 1))


def _reset(stream: Stream, site: int) -> Stream:
    first = stream.pieces[site].number or 0
    return _counted(lambda number: number - first)(stream, site)


def _without(field: str) -> Callable[[Stream, int], Stream]:
    def edit(stream: Stream, site: int) -> Stream:
        return stream.changed(site, cut_at(stream.pieces[site].payload, (field,)))

    return edit


def _having(*path: str) -> Callable[[Stream], list[int]]:
    return lambda stream: [n for n, p in stream.events() if value_at(p.payload, *path) is not None]


def _deltas(field: str) -> Callable[[Stream], list[int]]:
    return lambda stream: [
        each.place for each in deltas(stream) if stream.value_at(each.place, field) == 0
    ]


def _raised(*path: str) -> Callable[[Stream, int], Stream]:
    def edit(stream: Stream, site: int) -> Stream:
        payload = stream.pieces[site].payload
        return stream.changed(site, put_at(payload, path, value_at(payload, *path) + 1))

    return edit


def _second_item(stream: Stream) -> list[int]:
    """Announcements of items other than the first."""
    return stream.typed(ITEM_ADDED)[1:]


def _reindexed(change: int) -> Callable[[Stream, int], Stream]:
    """All events of an item under another index."""

    def edit(stream: Stream, site: int) -> Stream:
        index = stream.value_at(site, "output_index")
        for place in of_item(stream, index):
            payload = {**stream.pieces[place].payload, "output_index": index + change}
            stream = stream.changed(place, payload)
        return stream

    return edit


def _last_item(stream: Stream) -> list[int]:
    return stream.typed(ITEM_ADDED)[-1:]


def _parts(field: str) -> Callable[[Stream], list[int]]:
    def sites(stream: Stream) -> list[int]:
        payloads = ((n, stream.pieces[n].payload) for n in stream.typed(*PARTS_ADDED))
        return [n for n, payload in payloads if value_at(payload, field) is not None]

    return sites


def _later_parts(stream: Stream) -> list[int]:
    return [n for n in _parts("summary_index")(stream) if _index(stream.pieces[n])]


def _index(piece: Piece) -> Any:
    return value_at(piece.payload, "summary_index")


def _first_index(stream: Stream, site: int) -> Stream:
    """All events of a later summary part under index 0."""
    key = (stream.value_at(site, "output_index"), _index(stream.pieces[site]))
    for place, piece in stream.events():
        if (value_at(piece.payload, "output_index"), _index(piece)) == key:
            stream = stream.changed(place, {**piece.payload, "summary_index": 0})
    return stream


def _renamed(*path: str) -> Callable[[Stream, int], Stream]:
    def edit(stream: Stream, site: int) -> Stream:
        payload = stream.pieces[site].payload
        return stream.changed(site, put_at(payload, path, f"{text_at(payload, *path)}x"))

    return edit


def _named(*path: str) -> Callable[[Stream], list[int]]:
    """Events with an id at a path, where another event has one too."""

    def sites(stream: Stream) -> list[int]:
        found = [n for n, piece in stream.events() if text_at(piece.payload, *path)]
        return found[1:] if len(found) > 1 else []

    return sites


def _later(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, {**payload, "created": value_at(payload, "created") + 60})


def _stamped(stream: Stream) -> list[int]:
    found = [n for n in chunks(stream) if stream.value_at(n, "created")]
    return found[1:] if len(found) > 1 else []


def _no_choice_index(stream: Stream, site: int) -> Stream:
    return stream.changed(site, cut_at(stream.pieces[site].payload, (*CHOICE, "index")))


def _tool_numbers(stream: Stream) -> list[int]:
    return [0] if tools(stream) else []


def _tools_from_one(stream: Stream, _site: int) -> Stream:
    for place in tools(stream):
        payload = stream.pieces[place].payload
        calls = value_at(payload, *CHOICE, "delta", "tool_calls")
        raised = [{**call, "index": (value_at(call, "index") or 0) + 1} for call in calls]
        stream = stream.changed(place, put_at(payload, (*CHOICE, "delta", "tool_calls"), raised))
    return stream


INDICES: Final = (
    Operator(
        "I1-gap",
        "A sequence number is left out.",
        _numbered,
        _counted(lambda n: n + 1),
        _R,
        renumbers=False,
    ),
    Operator(
        "I1-repeat", "A sequence number comes twice.", _numbered, _repeated, _R, renumbers=False
    ),
    Operator("I1-reset", "The numbering starts again.", _numbered, _reset, _R, renumbers=False),
    Operator(
        "I1-offset",
        "The numbering starts at another number.",
        lambda s: _having("sequence_number")(s)[:1],
        _counted(lambda n: n + 1),
        _R,
        renumbers=False,
    ),
    Operator(
        "I1-no-number",
        "An event has no sequence number.",
        _numbered,
        _without("sequence_number"),
        _R,
        renumbers=False,
    ),
    Operator(
        "I2-content-index-off",
        "A delta names another content part.",
        _deltas("content_index"),
        _raised("content_index"),
        _R,
    ),
    Operator(
        "I2-part-index-off",
        "A content part has the index after its own.",
        _parts("content_index"),
        _raised("content_index"),
        _R,
    ),
    Operator(
        "I3-index-reused",
        "An item takes the index of the one before it.",
        _second_item,
        _reindexed(-1),
        _R,
    ),
    Operator("I3-index-gap", "An item leaves an index out.", _last_item, _reindexed(1), _R),
    Operator(
        "I4-item-id-off",
        "One event has another item id.",
        _named("item_id"),
        _renamed("item_id"),
        _R,
    ),
    Operator(
        "I4-done-id-off",
        "An item is closed under another id.",
        _named("item", "id"),
        _renamed("item", "id"),
        _R,
    ),
    Operator(
        "I4-response-id-off",
        "The response changes its id.",
        _named("response", "id"),
        _renamed("response", "id"),
        _R,
    ),
    Operator("I4-chunk-id-off", "One chunk has another id.", _named("id"), _renamed("id"), _C),
    Operator(
        "I5-summary-index-stuck",
        "A later summary part has index 0.",
        _later_parts,
        _first_index,
        _R,
    ),
    Operator(
        "I5-summary-index-off",
        "One summary delta names another part.",
        _deltas("summary_index"),
        _raised("summary_index"),
        _R,
    ),
    Operator(
        "I6-no-output-index",
        "An event does not say which item it is of.",
        _having("output_index"),
        _without("output_index"),
        _R,
    ),
    Operator(
        "I6-no-summary-index",
        "A summary event has no part index.",
        _having("summary_index"),
        _without("summary_index"),
        _R,
    ),
    Operator(
        "I6-no-content-index",
        "A content event has no part index.",
        _having("content_index"),
        _without("content_index"),
        _R,
        most=6,
    ),
    Operator("I7-created-off", "One chunk has another time stamp.", _stamped, _later, _C),
    Operator("I8-no-choice-index", "A choice has no index.", plain, _no_choice_index, _C),
    Operator(
        "I9-tools-from-one", "Tool calls are numbered from 1.", _tool_numbers, _tools_from_one, _C
    ),
)
