"""Calls of a gateway and of its upstream are compared by their places, with or without ids."""

from __future__ import annotations

from typing import Any

from conformance.core.events import Exchange
from conformance.evidence.hops import _numbered_calls
from conformance.judging.transcript import Transcript

FIRST: dict[str, Any] = {"index": 0, "id": "a", "name": "add", "arguments": '{"of": 1}'}
SECOND: dict[str, Any] = {"index": 1, "id": "b", "name": "add", "arguments": '{"of": 2}'}


def numbered(*calls: dict[str, Any]) -> list[Any]:
    return _numbered_calls(Transcript(Exchange(), tools=list(calls)))


def test_blocks_that_are_closed_in_another_order_keep_their_places() -> None:
    assert numbered(SECOND, FIRST) == numbered(FIRST, SECOND)
    turned = ({**FIRST, "index": 1}, {**SECOND, "index": 0})
    assert numbered(*turned) != numbered(FIRST, SECOND)


def test_calls_without_ids_are_calls_all_the_same() -> None:
    """Gemini's may have none; where an API demands them, a rule of its own says so."""
    bare = [{key: value for key, value in call.items() if key != "id"} for call in (FIRST, SECOND)]
    assert numbered(*bare) == numbered(FIRST, SECOND)


def test_two_calls_under_one_id_are_found() -> None:
    assert numbered(FIRST, {**SECOND, "id": "a"}) != numbered(FIRST, SECOND)
