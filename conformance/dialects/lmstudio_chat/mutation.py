"""Mutation of `lmstudio.chat`: where its events hold what, and operators on results and calls."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import text_at
from conformance.dialects.lmstudio_chat.vocabulary import EVENTS
from conformance.editing.edits import (
    places_of,
)
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_ENDS: Final = places_of("chat.end")


_LAYOUT: Final = EVENTS.layout(
    error=lambda message, _code: {
        "type": "error",
        "error": {"type": "internal_error", "message": message},
    },
    error_ends=False,
    named_events=True,
    reasoning_tokens=(
        ("result", "stats", "reasoning_output_tokens"),
        ("stats", "reasoning_output_tokens"),
    ),
)


def _with_item(kind: str) -> Sites:
    """Ends whose result lists an element of this kind."""
    return lambda stream: [n for n in _ENDS(stream) if _items(stream, n, kind)]


def _items(stream: Stream, site: int, kind: str) -> list[Any]:
    items = stream.list_at(site, "result", "output")
    return [each for each in items if text_at(each, "type") == kind]


def _without(kind: str) -> Edit:
    """The result does not list what was streamed."""

    def edit(stream: Stream, site: int) -> Stream:
        lost = _items(stream, site, kind)
        kept = [e for e in stream.list_at(site, "result", "output") if e not in lost]
        return stream.with_value(site, ("result", "output"), kept)

    return edit


for _kind in ("reasoning", "message", "tool_call"):
    OPERATORS.add(f"X22-result-without-{_kind.replace('_', '-')}", "The result leaves it out.")(
        _with_item(_kind), _without(_kind)
    )

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__)))
