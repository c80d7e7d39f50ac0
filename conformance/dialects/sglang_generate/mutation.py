"""Mutation of `sglang.generate`: operators on the text so far and its metadata."""

from __future__ import annotations

from typing import Any, Final

from conformance.editing.edits import (
    double_piece,
    drop_piece,
    later_with,
    places_with,
    raise_value,
    set_value,
)
from conformance.editing.layout import StreamLayout
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_LAST: Final = places_with("meta_info", "finish_reason")


def _error(message: str, _code: str) -> dict[str, Any]:
    return {"error": {"message": message}}


def _in_streams(sites: Sites) -> Sites:
    return lambda stream: [] if stream.is_body else sites(stream)


def _is_whole(stream: Stream, site: int) -> bool:
    count = stream.value_at(site, "meta_info", "completion_tokens")
    return bool(len(stream.list_at(site, "output_ids")) == count)


def _later_wholes(stream: Stream) -> list[int]:
    return [n for n in later_with("text")(stream) if _is_whole(stream, n)]


OPERATORS.add("X22-last-lost", "The event with the reason to finish is lost.")(
    _in_streams(_LAST), drop_piece
)
OPERATORS.add("X8-last-twice", "The event with the reason to finish comes twice.")(
    _in_streams(_LAST), double_piece
)
OPERATORS.add("X3-text-strays", "The text so far is another one.")(
    _in_streams(_later_wholes), set_value("Another text.", "text")
)
OPERATORS.add("I4-other-id", "An event is of another request.")(
    _in_streams(_LAST), set_value("other", "meta_info", "id")
)
OPERATORS.add("U13-prompt-recounted", "The tokens of the prompt are counted anew.")(
    _in_streams(_LAST), raise_value("meta_info", "prompt_tokens")
)

MUTATION: Final = Mutation(
    StreamLayout(
        error=_error,
        refuses=frozenset({"empty delta", "ping", "split delta"}),
        sentinel="[DONE]",
    ),
    (*OPERATORS, *operator_rows(__file__)),
)
