"""Operators on output items of `openai.responses`: order, stated texts, indices and ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from conformance.core.json_values import Path, list_at
from conformance.dialects.openai_responses.vocabulary import (
    DONES,
    ITEM_ADDED,
    ITEM_DONE,
    PART_DONES,
    PARTS_ADDED,
    TERMINALS,
)
from conformance.editing.deltas import find_deltas, replace_strings
from conformance.editing.edits import drop_value, first_and_last, first_of, places_of, raise_value
from conformance.editing.operator import Edit, OperatorTable, Sites
from conformance.editing.stream import Stream

_INDEX: Final = "output_index"
_OUTPUT: Final = ("response", "output")
_RAW: Final = ("response.reasoning_text.delta", "response.reasoning_text.done")


OPERATORS: Final = OperatorTable()


def _added_items(stream: Stream, *types: str) -> list[int]:
    """Announcements of items of these types."""
    return [n for n in stream.typed(ITEM_ADDED) if stream.text_at(n, "item", "type") in types]


def _item_places(stream: Stream, index: int) -> list[int]:
    """Places of every event of one item."""
    return [n for n, _ in stream.events() if stream.value_at(n, _INDEX) == index]


def _early_ends(stream: Stream) -> list[int]:
    """Ends of reasoning items that are followed by another item and by a terminal event."""
    done = [n for n in stream.typed(ITEM_DONE) if stream.text_at(n, "item", "type") == "reasoning"]
    added = stream.typed(ITEM_ADDED)
    return [n for n in done if stream.terminals() and any(m > n for m in added)]


@OPERATORS.edit("X12-overlap", _early_ends)
def _announce_early(stream: Stream, site: int) -> Stream:
    """The next item is announced before this one ends."""
    following = next(n for n in stream.typed(ITEM_ADDED) if n > site)
    return stream.move(following, site)


def _reasoning_before(kind: str) -> Sites:
    """Announcements of reasoning items that an item of another type follows."""

    def sites(stream: Stream) -> list[int]:
        others = _added_items(stream, kind) if stream.terminals() else []
        return [n for n in _added_items(stream, "reasoning") if any(m > n for m in others)]

    return sites


def _move_item_last(stream: Stream, site: int) -> Stream:
    """The whole item comes after the others, under the index it had."""
    places = _item_places(stream, stream.value_at(site, _INDEX))
    rest = stream.without(*places)
    return rest.insert(rest.terminals()[0], *(stream.pieces[n] for n in places))


def _prefillable(stream: Stream) -> list[int]:
    """Announcements of items whose closed form has text."""
    found = _added_items(stream, "reasoning", "message")
    return [n for n in found if _closed_form(stream, n) is not None]


def _closed_form(stream: Stream, place: int) -> object:
    index = stream.value_at(place, _INDEX)
    for n in stream.typed(ITEM_DONE):
        item = stream.value_at(n, "item")
        if stream.value_at(n, _INDEX) == index and _part_texts(item, ()):
            return item
    return None


@OPERATORS.edit("X9-prefilled-start", _prefillable)
def _prefill_item(stream: Stream, site: int) -> Stream:
    """An item is announced with the text that its deltas add."""
    return stream.with_value(site, ("item",), _closed_form(stream, site))


def _part_texts(item: object, path: Path) -> list[Path]:
    keys = ("summary", "content")
    return [(*path, key, n, "text") for key in keys for n in range(len(list_at(item, key)))]


def _stated_text(stream: Stream, place: int) -> Path:
    """The path of the first text that an event states; empty where it states none."""
    paths: list[Path] = [("text",), ("arguments",), ("part", "text"), ("item", "arguments")]
    paths += _part_texts(stream.value_at(place, "item"), ("item",))
    for n, item in enumerate(stream.list_at(place, *_OUTPUT)):
        paths += [(*_OUTPUT, n, "arguments"), *_part_texts(item, (*_OUTPUT, n))]
    return next((path for path in paths if stream.text_at(place, *path)), ())


def _stating(types: Iterable[str]) -> Sites:
    """The first and the last event of each of these types, where they state a whole text."""
    return lambda stream: [n for n in first_and_last(stream, types) if _stated_text(stream, n)]


def _misstate_text(stream: Stream, site: int) -> Stream:
    path = _stated_text(stream, site)
    return stream.with_value(site, path, f"{stream.text_at(site, *path)} Indeed.")


def _stated_outputs(stream: Stream) -> list[int]:
    return [n for n in stream.terminals() if stream.list_at(n, *_OUTPUT)]


@OPERATORS.edit("N12-raw-renamed", first_of(places_of(_RAW[0])))
def _rename_raw(stream: Stream, _site: int) -> Stream:
    """Raw thinking comes under another name."""
    for place in stream.typed(*_RAW):
        kind = stream.pieces[place].type.replace("reasoning_text", "reasoning")
        stream = stream.with_value(place, ("type",), kind)
    return stream


@OPERATORS.edit("T2-marker-in-item-name", lambda stream: _added_items(stream, "function_call"))
def _mark_name(stream: Stream, site: int) -> Stream:
    """A tool name holds a marker."""
    name = stream.text_at(site, "item", "name")
    for place, piece in stream.events():
        payload = replace_strings(piece.payload, name, f"{name}<|channel|>")
        if payload != piece.payload and place >= site:
            stream = stream.with_payload(place, payload)
    return stream


def _zero_deltas(key: str) -> Sites:
    """Deltas with the index 0."""

    def sites(stream: Stream) -> list[int]:
        places = (each.place for each in find_deltas(stream))
        return [n for n in places if stream.value_at(n, key) == 0]

    return sites


def _shift_item(change: int) -> Edit:
    """All events of an item under another index."""

    def edit(stream: Stream, site: int) -> Stream:
        index = stream.value_at(site, _INDEX)
        for place in _item_places(stream, index):
            stream = stream.with_value(place, (_INDEX,), index + change)
        return stream

    return edit


def _added_parts(key: str, is_fit: Callable[[int], bool] = lambda _: True) -> Sites:
    """Announcements of parts with such an index."""

    def sites(stream: Stream) -> list[int]:
        found = stream.typed(*PARTS_ADDED)
        indices = [(n, stream.value_at(n, key)) for n in found]
        return [n for n, index in indices if index is not None and is_fit(index)]

    return sites


@OPERATORS.edit("I5-summary-index-stuck", _added_parts("summary_index", bool))
def _stick_part(stream: Stream, site: int) -> Stream:
    """A later summary part has index 0."""
    keys = (_INDEX, "summary_index")
    wanted = [stream.value_at(site, key) for key in keys]
    for place, _ in stream.events():
        if [stream.value_at(place, key) for key in keys] == wanted:
            stream = stream.with_value(place, ("summary_index",), 0)
    return stream


OPERATORS.add("X15-thinking-last", "The reasoning item comes after the message.")(
    _reasoning_before("message"), _move_item_last
)
OPERATORS.add("X16-misstated-text", "A stated text is not the one that was sent.", most=3)(
    _stating(DONES), _misstate_text
)
OPERATORS.add("X16-misstated-part", "A closed part holds another text.", most=3)(
    _stating(PART_DONES), _misstate_text
)
OPERATORS.add("X16-misstated-item", "A closed item holds another text.", most=3)(
    _stating([ITEM_DONE]), _misstate_text
)
OPERATORS.add("X16-misstated-response", "The closing response holds another text.")(
    _stating(TERMINALS), _misstate_text
)
OPERATORS.add("X17-output-lacks-item", "The closing response lacks an item.")(
    _stated_outputs, drop_value(*_OUTPUT, 0)
)
OPERATORS.add("T1-reasoning-after-call", "The reasoning item comes after the call.")(
    _reasoning_before("function_call"), _move_item_last
)
OPERATORS.add("I2-content-index-off", "A delta names another content part.")(
    _zero_deltas("content_index"), raise_value("content_index")
)
OPERATORS.add("I2-part-index-off", "A content part has the index after its own.")(
    _added_parts("content_index"), raise_value("content_index")
)
OPERATORS.add("I3-index-reused", "An item takes the index of the one before it.")(
    lambda stream: stream.typed(ITEM_ADDED)[1:], _shift_item(-1)
)
OPERATORS.add("I3-index-gap", "An item leaves an index out.")(
    lambda stream: stream.typed(ITEM_ADDED)[-1:], _shift_item(1)
)
OPERATORS.add("I5-summary-index-off", "One summary delta names another part.")(
    _zero_deltas("summary_index"), raise_value("summary_index")
)
OPERATORS.add("X4-end-late", "A reasoning item is closed at the very end.")(
    _early_ends, lambda stream, site: stream.move(site, stream.terminals()[0])
)
OPERATORS.add("T9-call-without-id", "A closed call does not say under which id it is answered.")(
    lambda stream: [n for n in stream.typed(ITEM_DONE) if stream.text_at(n, "item", "call_id")],
    drop_value("item", "call_id"),
)
