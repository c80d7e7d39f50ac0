"""Events of Responses without indices: they belong to the item whose id they have, or by order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette.recording import open_recording
from conformance.dialects.openai_responses.places import Places
from conformance.judging.groups import finding_groups
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.mutate.base_recordings import shipped_bases
from conformance.recordings.check import check_trusted

Payload = dict[str, Any]

INDICES: Final = ("output_index", "content_index", "summary_index")
MISSING: Final = {
    "wire/responses/item-index-known",
    "wire/responses-parts/indices-known",
    "summary/lifecycle/indices-known",
}
SUMMARY: Final = "openai.responses/openai/summary-four-parts"
CALLS: Final = "openai.responses/openai/listed-tools-then-calls"
TEXT: Final = "openai.responses/deepseek/raw-thinking"


@cache
def base(name: str) -> Any:
    return next(each for each in shipped_bases() if each.name == name)


def payloads(name: str) -> list[Payload]:
    stream = next(base(name).streams())
    return [piece.payload for _, piece in stream.events() if isinstance(piece.payload, dict)]


def stripped(events: Sequence[Payload]) -> list[Payload]:
    return [{k: v for k, v in each.items() if k not in INDICES} for each in events]


def findings(events: Sequence[Payload], name: str, folder: Path) -> set[str]:
    """The first rules of the groups of findings, for a stream of these payloads."""
    path = folder / "stream.sse"
    blocks = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events]
    path.write_text("".join(blocks), encoding="utf-8")
    found = check_trusted(open_recording(path), Rulebook.load(), base(name).choices)
    return {each.first.rule for each in finding_groups(Report(streams=tuple(found)))}


@pytest.mark.parametrize("name", [SUMMARY, CALLS, TEXT])
def test_a_sound_stream_lacks_nothing_but_its_indices(name: str, tmp_path: Path) -> None:
    before = findings(payloads(name), name, tmp_path)
    after = findings(stripped(payloads(name)), name, tmp_path)
    assert after & MISSING
    assert after - MISSING == before


def _altered(kind: str, field: str) -> Callable[[list[Payload]], list[Payload]]:
    """The last event of a type states another text."""

    def edit(events: list[Payload]) -> list[Payload]:
        last = max(n for n, each in enumerate(events) if each["type"] == kind)
        return [
            {**each, field: "quite another text"} if n == last else each
            for n, each in enumerate(events)
        ]

    return edit


def _without(kind: str) -> Callable[[list[Payload]], list[Payload]]:
    """No event of a type, and no hole in the numbers that would say so."""
    return lambda events: [
        {**each, "sequence_number": number}
        for number, each in enumerate(each for each in events if each["type"] != kind)
    ]


@pytest.mark.parametrize(
    ("name", "edit", "rule"),
    [
        (
            TEXT,
            _altered("response.output_text.done", "text"),
            "wire/responses-parts/text-agrees",
        ),
        (TEXT, _without("response.output_text.delta"), "wire/responses-parts/text-agrees"),
        (
            SUMMARY,
            _altered("response.reasoning_summary_text.done", "text"),
            "summary/lifecycle/text-agrees",
        ),
        (
            CALLS,
            _altered("response.function_call_arguments.delta", "delta"),
            "wire/responses-parts/arguments-agree",
        ),
    ],
)
def test_a_fault_of_a_stream_without_indices_is_found(
    name: str, edit: Callable[[list[Payload]], list[Payload]], rule: str, tmp_path: Path
) -> None:
    after = findings(edit(stripped(payloads(name))), name, tmp_path)
    assert rule in after
    assert after & MISSING


def added(kind: str, **fields: Any) -> Payload:
    return {"type": "response.output_item.added", "item": {"type": kind, **fields}}


def delta(kind: str, item_id: str = "", **fields: Any) -> Payload:
    named = {"item_id": item_id} if item_id else {}
    return {"type": f"response.{kind}.delta", "delta": "x", **named, **fields}


ARGUMENTS: Final = "function_call_arguments"
TWO_CALLS: Final = (added("function_call", id="a"), added("function_call", id="b"))
THINKS: Final = added("reasoning", id="r")
PART_ADDED: Final = {"type": "response.reasoning_summary_part.added", "item_id": "r"}
TEXT_OF_PART: Final = delta("reasoning_summary_text", "r")


@pytest.mark.parametrize(
    ("events", "place"),
    [
        ((*TWO_CALLS, delta(ARGUMENTS, "a")), {"output_index": 0}),
        ((*TWO_CALLS, delta(ARGUMENTS, "b")), {"output_index": 1}),
        # llama.cpp announces calls without an id, and names them by their call_id.
        ((added("function_call", call_id="fc_1"), delta(ARGUMENTS, "fc_1")), {"output_index": 0}),
        # Which of both calls is meant by an unknown id nobody knows: it is a third one.
        ((*TWO_CALLS, delta(ARGUMENTS, "other")), {"output_index": 2}),
        ((TWO_CALLS[0], delta(ARGUMENTS, "other")), {"output_index": 0}),
        ((TWO_CALLS[0], delta(ARGUMENTS)), {"output_index": 0}),
        # An index that is there counts.
        ((TWO_CALLS[0], delta(ARGUMENTS, "a", output_index=7)), None),
        (
            (THINKS, PART_ADDED, PART_ADDED, TEXT_OF_PART),
            {"output_index": 0, "summary_index": 1},
        ),
        ((THINKS, delta("reasoning_text", "r")), {"output_index": 0, "content_index": 0}),
        # Another type takes no such text.
        ((THINKS, delta("output_text")), None),
    ],
)
def test_where_an_event_without_indices_belongs(
    events: Sequence[Payload], place: dict[str, int] | None
) -> None:
    places = Places()
    assert [places.place(each["type"], each) for each in events][-1] == place
