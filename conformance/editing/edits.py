"""Places and edits that many operators share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from conformance.core.json_values import Path, list_at, put_at, value_at
from conformance.editing.deltas import delta_places, find_deltas
from conformance.editing.filled import filled
from conformance.editing.layout import TextKind
from conformance.editing.operator import Edit, Sites
from conformance.editing.stream import Stream


def whole_stream(_stream: Stream) -> Sequence[int]:
    """One place: the stream as a whole."""
    return (0,)


def places_of(*types: str) -> Sites:
    """Events of these types."""
    return lambda stream: stream.typed(*types)


def deltas_of(kind: TextKind) -> Sites:
    return lambda stream: delta_places(stream, kind)


def typed_by(kind: str, *path: str | int) -> Callable[..., Sites]:
    """Events of this type, by the words that may be at a path of theirs."""

    def saying(*words: str) -> Sites:
        return lambda stream: [n for n in stream.typed(kind) if stream.value_at(n, *path) in words]

    return saying


def right_after(sites: Sites, before: Sites) -> Sites:
    """Those of the places that stand right after one of the others."""

    def found(stream: Stream) -> list[int]:
        earlier = set(before(stream))
        return [n for n in sites(stream) if n - 1 in earlier]

    return found


def ends_before(end: str, start: str) -> Sites:
    """Ends of what something else follows."""

    def found(stream: Stream) -> list[int]:
        last = max(stream.typed(start), default=0)
        return [n for n in stream.typed(end) if n < last]

    return found


def lists_between(*path: str | int, first: Collection[str], last: str) -> Sites:
    """Events with a list that begins with an element of a type and ends with one of another."""
    return lambda stream: [
        n
        for n, _ in stream.events()
        if stream.text_at(n, *path, 0, "type") in first
        and stream.text_at(n, *path, -1, "type") == last
    ]


def places_with(*path: str | int) -> Sites:
    """Events with something other than null at a path."""
    return lambda stream: stream.holding(*path)


def with_upstream(sites: Sites) -> Sites:
    """Places in what an application sent, where its provider's stream was recorded, too."""
    return lambda stream: sites(stream) if stream.exchange.hop == "app" else ()


def some_of(sites: Sites, which: slice) -> Sites:
    """A slice of these places."""
    return lambda stream: sites(stream)[which]


def first_of(sites: Sites) -> Sites:
    return some_of(sites, slice(1))


def stating(sites: Sites, *values: Any, path: Path) -> Sites:
    """Those of the places where one of these values is at a path."""
    return lambda stream: [n for n in sites(stream) if stream.value_at(n, *path) in values]


def texts_at(*path: str | int) -> Sites:
    """Events with a string that is not empty at a path."""
    return lambda stream: [n for n, _ in stream.events() if stream.text_at(n, *path)]


def where_body(sites: Sites, *, wanted: bool) -> Sites:
    """These places in whole answers only, or in streams only."""
    return lambda stream: sites(stream) if stream.is_body is wanted else ()


def where_any(condition: Sites, sites: Sites) -> Sites:
    """These places, where there is any of the others."""
    return lambda stream: sites(stream) if condition(stream) else ()


def later_with(*path: str | int) -> Sites:
    """Events with a string that is not empty at a path, but the first."""
    return some_of(texts_at(*path), slice(1, None))


def first_and_last(stream: Stream, types: Iterable[str]) -> list[int]:
    """The first and the last event of each of these types, in stream order."""
    found = [stream.typed(kind) for kind in types]
    return sorted({place for places in found if places for place in (places[0], places[-1])})


def thinking_shown(stream: Stream) -> Sequence[int]:
    """One place, where the request is known and the stream has thinking."""
    is_known = isinstance(request_body(stream), dict)
    return (0,) if is_known and find_deltas(stream, "thinking") else ()


def drop_piece(stream: Stream, site: int) -> Stream:
    return stream.without(site)


def double_piece(stream: Stream, site: int) -> Stream:
    return stream.insert(site + 1, stream.pieces[site])


def move_before(stream: Stream, site: int) -> Stream:
    """The piece comes before the one that stood right before it."""
    return stream.move(site, site - 1)


def move_after_next(start: str) -> Edit:
    """The piece comes after the next start, if there is one."""

    def edited(stream: Stream, site: int) -> Stream | None:
        following = next((n for n in stream.typed(start) if n > site), None)
        return None if following is None else stream.move(site, following + 1)

    return edited


def reuse_index(key: str, *types: str) -> Edit:
    """What begins here has the index 0 up to its end."""

    def edited(stream: Stream, site: int) -> Stream:
        index = stream.value_at(site, key)
        for place in stream.typed(*types):
            if place >= site and stream.value_at(place, key) == index:
                stream = stream.with_value(place, (key,), 0)
        return stream

    return edited


def turn_around(*path: str | int) -> Edit:
    """A list is in reverse order."""
    return lambda stream, site: stream.with_value(site, path, stream.list_at(site, *path)[::-1])


def double_stream(stream: Stream, _site: int) -> Stream:
    return stream.with_pieces([*stream.pieces, *stream.pieces])


def drop_value(*path: str | int) -> Edit:
    return lambda stream, site: stream.without_value(site, path)


def set_value(value: object, *path: str | int) -> Edit:
    return lambda stream, site: stream.with_value(site, path, value)


def set_filled(value: Any, *path: str | int) -> Edit:
    """As `set_value`, `$path` in the value being what is there."""
    return lambda stream, site: stream.with_value(
        site, path, filled(value, stream.pieces[site].payload)
    )


def insert_like(payloads: Any, *, after: int) -> Edit:
    """Further events before this one or `after` it, written as it is."""
    wanted = payloads if isinstance(payloads, list) else [payloads]

    def edited(stream: Stream, site: int) -> Stream:
        sample = stream.pieces[site]
        new = (sample.with_payload(filled(each, sample.payload)) for each in wanted)
        return stream.insert(site + after, *new)

    return edited


def drop_same(key: str, *types: str) -> Edit:
    """Events of these types with the value that the place has under a key are lost."""

    def edited(stream: Stream, site: int) -> Stream:
        value = stream.value_at(site, key)
        return stream.without(
            *(n for n in stream.typed(*types) if stream.value_at(n, key) == value)
        )

    return edited


def raise_value(*path: str | int, change: int = 1) -> Edit:
    """A number is another one."""
    return lambda stream, site: stream.with_value(site, path, stream.value_at(site, *path) + change)


def prefix_text(more: str, *path: str | int) -> Edit:
    """A string begins with something else."""
    return lambda stream, site: stream.with_value(site, path, more + stream.text_at(site, *path))


def prolong_text(more: str, *path: str | int) -> Edit:
    """A string goes on."""
    return lambda stream, site: stream.with_value(site, path, stream.text_at(site, *path) + more)


def request_with(**more: Any) -> Edit:
    """Something else was requested."""
    return lambda stream, _site: stream.with_request({**request_body(stream), **more})


def request_sites(*path: str, sibling: str = "") -> Sites:
    """Values of the request at a path, `*` being every element; `sibling` stands next to them."""
    return lambda stream: range(len(_request_paths(stream, path, sibling)))


def ask_otherwise(change: Callable[[Any], Any], *path: str, sibling: str = "") -> Edit:
    """Such a value of the request is another one."""

    def edited(stream: Stream, site: int) -> Stream:
        found, body = _request_paths(stream, path, sibling)[site], request_body(stream)
        return stream.with_request(put_at(body, found, change(value_at(body, *found))))

    return edited


def shortened(text: str) -> str:
    """The first half of a text."""
    return text[: len(text) // 2]


def _request_paths(stream: Stream, path: Path, sibling: str) -> list[Path]:
    body = request_body(stream)
    found: list[Path] = [()]
    for key in path:
        found = [
            (*each, step)
            for each in found
            for step in (range(len(list_at(body, *each))) if key == "*" else (key,))
        ]
    return [
        each
        for each in found
        if value_at(body, *each) and (not sibling or value_at(body, *each[:-1], sibling))
    ]


def request_body(stream: Stream) -> Any:
    """The request; None where it is not known."""
    request = stream.exchange.request
    return request.json if request is not None else None
