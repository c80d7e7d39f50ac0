from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.judging.circumstances import lone_circumstances
from conformance.judging.result import StreamResult
from tests.each import each_row


def stream(**changes: Any) -> StreamResult:
    plain = StreamResult("f", 1, "openai.chat", "p", named=True, verdicts={}, findings=())
    return replace(plain, **changes)


STREAMED, BODY = {"framing": "sse"}, {"framing": "body"}
OTHER_API: dict[str, Any] = {"dialect": "anthropic.messages"}

# How many streams of one kind have the fault, of how many; the same of another kind; what is told.
CASES: list[tuple[dict[str, Any], tuple[int, int], dict[str, Any], tuple[int, int], str]] = [
    (STREAMED, (8, 8), BODY, (0, 8), "only streamed (8 of 8, 0 of 8 in bodies)"),
    (STREAMED, (0, 9), BODY, (4, 5), "only in bodies (4 of 5, 0 of 9 streamed)"),
    (STREAMED, (8, 8), BODY, (1, 8), ""),
    (STREAMED, (1, 1), BODY, (0, 1), ""),  # chance gives that every other time
    (STREAMED, (3, 60), BODY, (0, 5), ""),
    (STREAMED, (8, 8), {"framing": "lines"}, (8, 8), ""),
    (STREAMED, (8, 8), {"framing": ""}, (0, 8), ""),  # nothing is known of the others
    ({}, (5, 5), OTHER_API, (0, 5), "only in openai.chat (5 of 5, 0 of 5 in anthropic.messages)"),
    (
        {"beside": 7},
        (3, 9),
        {"beside": 0},
        (0, 40),
        "only while other requests run (3 of 9, 0 of 40 with one request at a time)",
    ),
    ({"beside": 7}, (3, 9), {"beside": None}, (0, 40), ""),
    (
        {"target": "ogx-1"},
        (4, 4),
        {"target": "ogx-2"},
        (0, 9),
        "only from ogx-1 (4 of 4, 0 of 9 from ogx-2)",
    ),
]


@each_row(CASES)
def test_where_alone_a_fault_came(
    one: dict[str, Any],
    of_one: tuple[int, int],
    other: dict[str, Any],
    of_other: tuple[int, int],
    message: str,
) -> None:
    judged = [
        (stream(**kind), number < having)
        for kind, (having, total) in ((one, of_one), (other, of_other))
        for number in range(total)
    ]
    assert lone_circumstances(judged) == ((message,) if message else ())


def test_what_parts_the_streams_the_same_is_reported_once() -> None:
    one, other = {"dialect": "a", "profile": "p"}, {"dialect": "b", "profile": "q"}
    judged = [(stream(**kind), kind is one) for kind in (one, other) * 10]
    assert lone_circumstances(judged) == ("only in a (10 of 10, 0 of 10 in b)",)
    # Another sender of the API: the profile says more than the API.
    judged += [(stream(**{**one, "profile": "q"}), False)] * 10
    assert lone_circumstances(judged) == (
        "only in a (10 of 20, 0 of 10 in b)",
        "only under profile p (10 of 10, 0 of 20 under profile q)",
    )


def test_several_other_kinds_are_elsewhere() -> None:
    kinds = [f"api.{number % 4}" for number in range(40)]
    judged = [(stream(dialect=kind), kind == "api.0") for kind in kinds]
    assert lone_circumstances(judged) == ("only in api.0 (10 of 10, 0 of 30 elsewhere)",)
