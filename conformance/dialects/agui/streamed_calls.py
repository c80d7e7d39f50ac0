"""The calls and results that a run streamed, held against what its snapshots state.

Rule 1: a call that has begun, and a result that came, belong to the messages from then on.
Rule 2: a snapshot drops calls where it lacks one of them; of an earlier run it may forget them.
Beyond MOST_CALLS calls nothing is compared any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.dialects.json_edge import mapping, objects, string

MOST_CALLS: Final = 4096
_BEGINNINGS: Final = frozenset({"TOOL_CALL_START", "TOOL_CALL_CHUNK"})


class StreamedCalls:
    """The ids of a run's calls so far, and of those that have a result."""

    def __init__(self) -> None:
        self._begun: set[str] = set()
        self._answered: set[str] = set()

    def take(self, kind: str, fields: dict[str, Any]) -> None:
        """Takes the next event."""
        name = string(fields.get("toolCallId"))
        if not name or self._is_full:
            return
        if kind in _BEGINNINGS:
            self._begun.add(name)
        elif kind == "TOOL_CALL_RESULT":
            self._answered.add(name)

    @property
    def _is_full(self) -> bool:
        return len(self._begun) + len(self._answered) > MOST_CALLS

    def held_against(self, messages: Any) -> dict[str, bool]:
        """`drops_calls` of a snapshot, where there is something to compare."""
        if self._is_full or not (self._begun or self._answered):
            return {}
        stated = {string(call.get("id")) for call in _stated_calls(messages)}
        results = {string(each.get("toolCallId")) for each in stated_results(messages)}
        return {"drops_calls": not (self._begun <= stated and self._answered <= results)}


def _stated_calls(messages: Any) -> Iterator[dict[str, Any]]:
    for message in objects(messages):
        yield from objects(message.get("toolCalls"))


def stated_results(messages: Any) -> Iterator[dict[str, Any]]:
    """The messages of a snapshot that hold results."""
    return (mapping(each) for each in objects(messages) if string(each.get("role")) == "tool")
