"""Operators on the life of items, parts and texts of `openai.responses`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from conformance.core.json_values import cut_at, list_at, put_at, text_at, value_at
from conformance.dialects.openai_responses import vocabulary
from conformance.mutate.operator import Operator, Sites, once
from conformance.mutate.stream import Stream
from conformance.mutate.texts import MESSAGES, RESPONSES, Delta, deltas, groups, rewritten

ITEM_ADDED: Final = "response.output_item.added"
ITEM_DONE: Final = "response.output_item.done"
PARTS_ADDED: Final = ("response.content_part.added", "response.reasoning_summary_part.added")
TERMINALS: Final = (*sorted(vocabulary.TERMINALS), "message_stop")
OPENINGS: Final = ("response.created", "message_start")
STARTS: Final = (*OPENINGS, ITEM_ADDED, *PARTS_ADDED, "content_block_start")
PART_DONES: Final = tuple(sorted(vocabulary.PART_DONES))
TEXT_DONES: Final = tuple(sorted(vocabulary.DONES))
BLOCK_ENDS: Final = ("content_block_stop", "message_delta")
ENDS: Final = (*TEXT_DONES, *PART_DONES, ITEM_DONE, *BLOCK_ENDS, *TERMINALS)
ONLY: Final = (RESPONSES,)
TYPED: Final = (RESPONSES, MESSAGES)


def each_type(stream: Stream, types: Sequence[str]) -> list[int]:
    """The first and the last event of each of these types, in stream order."""
    found = [stream.typed(kind) for kind in types]
    return sorted({place for places in found if places for place in (places[0], places[-1])})


def item_type(stream: Stream, place: int) -> str:
    return stream.text_at(place, "item", "type")


def items(stream: Stream, kind: str, *types: str) -> list[int]:
    """Places of item events of one event type, and if named only of items of these types."""
    return [n for n in stream.typed(kind) if not types or item_type(stream, n) in types]


def terminal(stream: Stream) -> list[int]:
    return stream.typed(*TERMINALS)


def of_item(stream: Stream, index: Any) -> list[int]:
    """Places of every event of one item."""
    return [n for n, piece in stream.events() if value_at(piece.payload, "output_index") == index]


def _drop(stream: Stream, site: int) -> Stream:
    return stream.dropped(site)


def _twice(stream: Stream, site: int) -> Stream:
    return stream.inserted(site + 1, stream.pieces[site])


def _starts(stream: Stream) -> list[int]:
    return each_type(stream, STARTS)


def _ends(stream: Stream) -> list[int]:
    return each_type(stream, ENDS)


def _ends_once(stream: Stream) -> list[int]:
    """As `_ends`, without the one that may be repeated."""
    return each_type(stream, [kind for kind in ENDS if kind != "message_delta"])


def _closing(stream: Stream) -> list[int]:
    """Ends of reasoning items that are followed by another item and by a terminal event."""
    done = items(stream, ITEM_DONE, "reasoning")
    return [n for n in done if terminal(stream) and any(m > n for m in stream.typed(ITEM_ADDED))]


def _end_late(stream: Stream, site: int) -> Stream:
    return stream.moved(site, terminal(stream)[0])


def _announced_early(stream: Stream, site: int) -> Stream:
    """The next item is announced before this one ends."""
    following = next(n for n in stream.typed(ITEM_ADDED) if n > site)
    return stream.moved(following, site)


def _text_done_of(stream: Stream, place: int) -> int | None:
    """The event that states the whole of the text that a delta adds to."""
    payload = stream.pieces[place].payload
    keys = ("output_index", "content_index", "summary_index")
    wanted = [value_at(payload, key) for key in keys]
    kind = stream.pieces[place].type.removesuffix(".delta")
    if kind == "content_block_delta":
        ends = stream.typed("content_block_stop")
        index = value_at(payload, "index")
        return next((n for n in ends if stream.value_at(n, "index") == index), None)
    return next(
        (
            n
            for n in stream.typed(f"{kind}.done")
            if [stream.value_at(n, key) for key in keys] == wanted
        ),
        None,
    )


def _stated(stream: Stream) -> list[int]:
    """Deltas whose text is stated later."""
    return [each.place for each in deltas(stream) if _text_done_of(stream, each.place)]


def _delta_after_end(stream: Stream, site: int) -> Stream:
    done = _text_done_of(stream, site)
    assert done is not None
    return stream.inserted(done + 1, stream.pieces[site])


def _delta_late(stream: Stream, site: int) -> Stream:
    done = _text_done_of(stream, site)
    assert done is not None
    return stream.moved(site, done + 1)


def _two_cycles(stream: Stream, _site: int) -> Stream:
    return stream.with_pieces([*stream.pieces, *stream.pieces])


def _neighbours(stream: Stream) -> list[int]:
    """Deltas that are followed by another one of the same text."""
    found = [
        one.place
        for group in groups(stream)
        for one, two in pairwise(group)
        if one.place + 1 == two.place and one.text != two.text
    ]
    return [place for place in sorted(found) if _text_done_of(stream, place)]


def _swap(stream: Stream, site: int) -> Stream:
    return stream.moved(site, site + 2)


def _long(stream: Stream) -> list[int]:
    """Numbers of texts that come in so many deltas that sums of them are told from increments."""
    return [n for n, group in enumerate(groups(stream, "thinking", "text")) if is_long_run(group)]


def is_long_run(group: list[Delta]) -> bool:
    """Whether more than four deltas of one text come one right after the other."""
    return len(group) > 4 and group[-1].place - group[0].place + 1 == len(group)


def cumulative(stream: Stream, site: int) -> Stream:
    """Every delta of one text repeats what came before."""
    group = groups(stream, "thinking", "text")[site]
    whole, edits = "", []
    for each in group:
        whole += each.text
        edits.append((each, whole))
    return rewritten(stream, edits)


def _stating(*types: str) -> Sites:
    """Events of these types that state a whole text."""
    return lambda stream: [n for n in each_type(stream, types) if _stated_path(stream, n)]


def _stated_path(stream: Stream, place: int) -> tuple[str | int, ...] | None:
    payload = stream.pieces[place].payload
    output = list_at(payload, "response", "output")
    ways: list[tuple[str | int, ...]] = [("text",), ("arguments",), ("part", "text")]
    ways += [("item", "arguments"), *_inside(value_at(payload, "item"), ("item",))]
    for n, item in enumerate(output):
        way = ("response", "output", n)
        ways += [(*way, "arguments"), *_inside(item, way)]
    return next((way for way in ways if text_at(payload, *way)), None)


def _inside(item: Any, way: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    names = ("summary", "content")
    return [(*way, name, n, "text") for name in names for n in range(len(list_at(item, name)))]


def _misstated(stream: Stream, site: int) -> Stream:
    way = _stated_path(stream, site)
    assert way is not None
    payload = stream.pieces[site].payload
    return stream.changed(site, put_at(payload, way, f"{text_at(payload, *way)} Indeed."))


def _outputs(stream: Stream) -> list[int]:
    return [n for n in terminal(stream) if stream.list_at(n, "response", "output")]


def _output_lacks(stream: Stream, site: int) -> Stream:
    return stream.changed(site, cut_at(stream.pieces[site].payload, ("response", "output", 0)))


def _second(stream: Stream) -> Sequence[int]:
    created = stream.typed(*OPENINGS)
    return [created[0] + 1] if created and created[0] + 1 < len(stream.pieces) else []


def _before_created(stream: Stream, site: int) -> Stream:
    return stream.moved(site, site - 1)


def _retyped_part(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, {**payload, "type": "response.reasoning_part.added"})


def _message_first(stream: Stream) -> list[int]:
    """Reasoning items that a message item follows, by their announcement."""
    messages = items(stream, ITEM_ADDED, "message")
    found = items(stream, ITEM_ADDED, "reasoning")
    return [n for n in found if any(m > n for m in messages) and terminal(stream)]


def _thinking_last(stream: Stream, site: int) -> Stream:
    """The whole reasoning item comes after the message, under the index after it."""
    index = stream.value_at(site, "output_index")
    places = of_item(stream, index)
    moved = [stream.pieces[n] for n in places]
    rest = stream.dropped(*places)
    return rest.inserted(terminal(rest)[0], *moved)


def _prefilled(stream: Stream) -> list[int]:
    """Announcements of items whose closed form has text."""
    return [n for n in items(stream, ITEM_ADDED, "reasoning", "message") if _closed(stream, n)]


def _closed(stream: Stream, place: int) -> Any:
    index = stream.value_at(place, "output_index")
    for n in stream.typed(ITEM_DONE):
        item = stream.value_at(n, "item")
        if stream.value_at(n, "output_index") == index and _inside(item, ()):
            return item
    return None


def _prefill(stream: Stream, site: int) -> Stream:
    payload = stream.pieces[site].payload
    return stream.changed(site, {**payload, "item": _closed(stream, site)})


def _every_delta(stream: Stream) -> Sequence[int]:
    return once(stream) if deltas(stream, "thinking") and _stated(stream) else ()


def _no_thinking_deltas(stream: Stream, _site: int) -> Stream:
    return stream.dropped(*(each.place for each in deltas(stream, "thinking")))


LIFECYCLE: Final = (
    Operator(
        "X1-no-start",
        "A response, item, part or block is not announced.",
        _starts,
        _drop,
        TYPED,
        most=8,
    ),
    Operator(
        "X2-no-end",
        "A text, part, item, block or response is not closed.",
        _ends,
        _drop,
        TYPED,
        most=8,
    ),
    Operator("X3-start-twice", "Something is announced twice.", _starts, _twice, TYPED, most=8),
    Operator("X3-end-twice", "Something is closed twice.", _ends_once, _twice, TYPED, most=8),
    Operator(
        "X4-end-late", "A reasoning item is closed at the very end.", _closing, _end_late, ONLY
    ),
    Operator(
        "X5-delta-after-end",
        "A delta comes again after its text was stated.",
        _stated,
        _delta_after_end,
        TYPED,
    ),
    Operator(
        "X5-delta-late", "A delta comes after its text was stated.", _stated, _delta_late, TYPED
    ),
    Operator("X6-duplicate-delta", "A delta is sent twice.", _stated, _twice, ONLY),
    Operator("X7-cumulative", "Deltas repeat the whole text so far.", _long, cumulative, TYPED),
    Operator(
        "X8-two-cycles",
        "The stream is sent twice.",
        lambda s: s.typed(*OPENINGS)[:1],
        _two_cycles,
        TYPED,
    ),
    Operator(
        "X9-prefilled-start",
        "An item is announced with the text that its deltas add.",
        _prefilled,
        _prefill,
        ONLY,
    ),
    Operator(
        "X12-overlap",
        "The next item is announced before this one ends.",
        _closing,
        _announced_early,
        ONLY,
    ),
    Operator("X13-swapped-deltas", "Two deltas are turned round.", _neighbours, _swap, ONLY),
    Operator("X14-lost-delta", "A delta is lost.", _stated, _drop, ONLY),
    Operator(
        "X14-no-thinking-deltas",
        "All thinking deltas are lost.",
        _every_delta,
        _no_thinking_deltas,
        ONLY,
    ),
    Operator(
        "X15-thinking-last",
        "The reasoning item comes after the message.",
        _message_first,
        _thinking_last,
        ONLY,
    ),
    Operator(
        "X16-misstated-text",
        "A stated text is not the one that was sent.",
        _stating(*TEXT_DONES),
        _misstated,
        ONLY,
        most=3,
    ),
    Operator(
        "X16-misstated-part",
        "A closed part holds another text.",
        _stating(*PART_DONES),
        _misstated,
        ONLY,
        most=3,
    ),
    Operator(
        "X16-misstated-item",
        "A closed item holds another text.",
        _stating(ITEM_DONE),
        _misstated,
        ONLY,
        most=3,
    ),
    Operator(
        "X16-misstated-response",
        "The closing response holds another text.",
        _stating(*TERMINALS),
        _misstated,
        ONLY,
    ),
    Operator(
        "X17-output-lacks-item",
        "The closing response lacks an item.",
        _outputs,
        _output_lacks,
        ONLY,
    ),
    Operator(
        "X18-before-created",
        "Something comes before response.created.",
        _second,
        _before_created,
        TYPED,
    ),
    Operator(
        "X19-other-part",
        "A summary part is announced as another kind.",
        lambda s: s.typed(PARTS_ADDED[1]),
        _retyped_part,
        ONLY,
    ),
)
