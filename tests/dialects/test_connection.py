"""Which messages of a WebSocket are of which answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Side
from conformance.core.json_values import NOT_JSON
from conformance.dialects.connection import sorted_answers
from conformance.dialects.openai_responses.socket import SOCKET
from tests.growth import grows_linearly

Row = tuple[Side, Any]


def ask(lane: str = "") -> Row:
    return "client", {"type": "response.create", **({"stream_id": lane} if lane else {})}


def server_row(kind: str, name: str = "", lane: str = "") -> Row:
    fields: dict[str, Any] = {"type": f"response.{kind}"}
    if name:
        fields["response"] = {"id": name}
    return "server", {**fields, **({"stream_id": lane} if lane else {})}


def fails(lane: str = "") -> Row:
    return "server", {"type": "error", **({"stream_id": lane} if lane else {})}


WHOLE = [
    server_row("created", "r1"),
    server_row("output_text.delta"),
    server_row("completed", "r1"),
]
NEXT = [server_row("created", "r2"), server_row("completed", "r2")]
LIMITS: Row = ("server", {"type": "codex.rate_limits"})
BROKEN: Row = ("server", NOT_JSON)
# What comes -> for each answer the message that asked, and its own; `!` behind one that is open.
ROWS: dict[str, tuple[list[Row], list[tuple[int | None, list[int], bool]]]] = {
    "one": ([ask(), *WHOLE], [(0, [1, 2, 3], False)]),
    "nobody asked": (WHOLE, [(None, [0, 1, 2], False)]),
    "in turn": ([ask(), *WHOLE, ask(), *NEXT], [(0, [1, 2, 3], False), (4, [5, 6], False)]),
    "asked ahead": ([ask(), ask(), *WHOLE, *NEXT], [(0, [2, 3, 4], False), (1, [5, 6], False)]),
    "lanes": (
        [
            *(
                ask("a"),
                ask("b"),
                server_row("created", "r2", "b"),
                server_row("created", "r1", "a"),
            ),
            *(server_row("completed", "r2", "b"), server_row("completed", "r1", "a")),
        ],
        [(0, [3, 5], False), (1, [2, 4], False)],
    ),
    "not answered": ([ask()], [(0, [], True)]),
    "cut by the end": ([ask(), *WHOLE[:2]], [(0, [1, 2], True)]),
    "cut by the next": (
        [ask(), *WHOLE[:2], ask(), *NEXT],
        [(0, [1, 2], False), (3, [4, 5], False)],
    ),
    "a second end": ([ask(), *WHOLE, WHOLE[2]], [(0, [1, 2, 3, 4], False)]),
    "a second end before the next": (
        [ask(), ask(), *WHOLE, WHOLE[2], *NEXT],
        [(0, [2, 3, 4, 5], False), (1, [6, 7], False)],
    ),
    "too late": ([ask(), *WHOLE, WHOLE[1]], [(0, [1, 2, 3, 4], False)]),
    "before anything": ([WHOLE[1], ask(), *WHOLE], [(None, [0], False), (1, [2, 3, 4], False)]),
    "not announced": ([ask(), *WHOLE, ask(), NEXT[1]], [(0, [1, 2, 3], False), (4, [5], False)]),
    "refused": ([ask(), fails(), ask(), *WHOLE], [(0, [1], False), (2, [3, 4, 5], False)]),
    "refused on its lane": (
        [ask("a"), ask(), fails("a"), *WHOLE],
        [(0, [2], False), (1, [3, 4, 5], False)],
    ),
    "failed with its error": (
        [ask(), WHOLE[0], fails(), server_row("failed", "r1")],
        [(0, [1, 2, 3], False)],
    ),
    "the connection fails": (
        [ask("a"), server_row("created", "r1", "a"), fails()],
        [(0, [1, 2], False)],
    ),
    "the connection fails, an answer goes on": (
        [ask("a"), server_row("created", "r1", "a"), fails(), server_row("completed", "r1", "a")],
        [(0, [1, 3], False)],
    ),
    "an error while nothing is asked": ([ask(), *WHOLE, fails()], [(0, [1, 2, 3], False)]),
    "an error alone": ([fails()], [(None, [0], True)]),
    "an id is used again": (
        [ask(), *WHOLE, ask(), *WHOLE],
        [(0, [1, 2, 3], False), (4, [5, 6, 7], False)],
    ),
    "an id changes": (
        [ask(), WHOLE[0], server_row("in_progress", "r9"), *WHOLE[1:]],
        [(0, [1, 2, 3, 4], False)],
    ),
    "limits": ([LIMITS, ask(), LIMITS, *WHOLE, LIMITS], [(1, [3, 4, 5], False)]),
    "no JSON": ([ask(), WHOLE[0], BROKEN, *WHOLE[1:]], [(0, [1, 2, 3, 4], False)]),
    "no JSON, nothing else": ([BROKEN], [(None, [0], True)]),
    "no JSON for the next": (
        [ask(), *WHOLE, ask(), BROKEN],
        [(0, [1, 2, 3], False), (4, [5], True)],
    ),
    "failures": (
        [ask("a"), fails(), fails(), ask("b"), fails(), fails()],
        [(0, [1], False), (3, [4], False)],
    ),
    "steered": (
        [ask(), WHOLE[0], ("client", {"type": "response.steer"}), *WHOLE[1:]],
        [(0, [1, 3, 4], False)],
    ),
    "nothing": ([("client", {}), ("client", NOT_JSON)], []),
}


@pytest.mark.parametrize("row", ROWS)
def test_messages_go_to_the_answer_that_they_are_of(row: str) -> None:
    messages, expected = ROWS[row]
    found = sorted_answers(SOCKET, iter(messages))
    assert [(each.request_at, each.messages, each.is_open) for each in found] == expected


def test_a_request_has_the_body_of_one_over_http() -> None:
    payload = {"type": "response.create", "stream_id": "a", "model": "m", "input": "Hi"}
    assert SOCKET.request_body(payload) == {"model": "m", "input": "Hi"}


def _rows() -> st.SearchStrategy[list[Row]]:
    kinds = st.sampled_from(["created", "in_progress", "x.delta", "completed", "failed"])
    some = st.sampled_from(["", "a", "b"])
    return st.lists(
        st.one_of(
            st.builds(ask, some),
            st.builds(server_row, kinds, st.sampled_from(["", "r1", "r2"]), some),
            st.builds(fails, some),
            st.just(BROKEN),
        ),
        max_size=12,
    )


def test_time_is_linear_however_many_lanes_fail() -> None:
    def rows(size: int) -> list[Row]:
        asking = [ask(f"lane-{number}") for number in range(size)]
        return [*asking, *[fails()] * size, *[BROKEN] * size]

    assert grows_linearly(lambda size: sorted_answers(SOCKET, iter(rows(size))), 20_000)


@given(_rows())
def test_no_event_of_a_response_is_lost_or_doubled(rows: list[Row]) -> None:
    owned = [at for each in sorted_answers(SOCKET, iter(rows)) for at in each.messages]
    events = {
        at
        for at, (side, payload) in enumerate(rows)
        if side == "server" and payload is not NOT_JSON and payload["type"] != "error"
    }
    assert events <= set(owned)
    assert all(owned.count(at) == 1 for at in events)


@given(_rows())
def test_every_request_has_one_answer_of_its_own(rows: list[Row]) -> None:
    def asking() -> Iterator[int]:
        yield from (at for at, (side, _) in enumerate(rows) if side == "client")

    found = [
        each.request_at
        for each in sorted_answers(SOCKET, iter(rows))
        if each.request_at is not None
    ]
    assert found == list(asking())
