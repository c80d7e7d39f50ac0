"""Mutation of `claude.stream-json`: where its lines hold what, operators on what they wrap."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.anthropic_messages.wire_keys import OF_MESSAGE
from conformance.dialects.claude_stream_json.wire_keys import RUN
from conformance.editing.deltas import delta_places
from conformance.editing.edits import (
    drop_piece,
    drop_value,
    places_of,
    prolong_text,
    set_value,
    typed_by,
)
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

_STOP: Final = "content_block_stop"
_BLOCK: Final[Path] = ("message", "content", 0)

OPERATORS: Final = OperatorTable()


def line_type(payload: Any) -> str:
    return text_at(payload, "event", "type") or text_at(payload, "type")


_LAYOUT: Final = RUN.layout(
    type_of=line_type,
    error_ends=False,
    starts=RUN.starts,
    repeatable=("message_delta",),
    text_keys=("api_message_id", "event.index"),
    restates=True,
    refuses=frozenset({"ping"}),
    unknown_event="vendor_note",
    reasoning_tokens=(("usage", "output_tokens_details", "thinking_tokens"),),
    elements={
        **dict.fromkeys(OF_MESSAGE, ("event",)),
        "assistant.block": _BLOCK,
    },
)


_wrapping: Final = typed_by("content_block_delta", "event", "delta", "type")


def _stating(kind: str, *, is_streamed: bool = True) -> Sites:
    """Lines that state a block of that type, of a run with partial messages."""

    def sites(stream: Stream) -> list[int]:
        found = stream.typed("assistant") if stream.typed(_STOP) or not is_streamed else []
        return [n for n in found if stream.value_at(n, *_BLOCK, "type") == kind]

    return sites


@OPERATORS.edit("E1-stop-made-up", _wrapping("thinking_delta"))
def _make_up_stops(stream: Stream, site: int) -> Stream | None:
    """The call breaks off in the thinking, and stops are made up for it."""
    blocks = [n for n in stream.typed(_STOP) if n > site]
    overs = [n for n in stream.typed("message_stop") if n > site]
    if not blocks or not overs:
        return None
    kept = {blocks[0], overs[0]}
    return stream.without(*(n for n in range(site + 1, overs[0]) if n not in kept))


@OPERATORS.edit("E8-success-after-failure", places_of("result"))
def _succeed(stream: Stream, site: int) -> Stream | None:
    """A run that failed ends as a success."""
    return stream.with_value(site, ("is_error",), False) if _failures(stream) else None


def _failures(stream: Stream) -> list[int]:
    found = stream.typed("assistant")
    return [n for n in found if stream.value_at(n, "is_api_error_message") is True]


OPERATORS.add("X21-unstated", "A block that came as events is stated by no line.")(
    _stating("thinking"), drop_piece
)
OPERATORS.add("X21-other-thinking", "The line that states thinking has more than was shown.")(
    _stating("thinking"), prolong_text(" Hm.", *_BLOCK, "thinking")
)
OPERATORS.add("X21-other-text", "The line that states text has more than was shown.")(
    _stating("text"), prolong_text(" Hm.", *_BLOCK, "text")
)
OPERATORS.add("X21-other-result", "The result has more than was shown.")(
    lambda stream: [n for n in stream.typed("result") if stream.value_at(n, "is_error") is False],
    prolong_text(" Hm.", "result"),
)
OPERATORS.add("S7-stated-unsigned", "The line that states thinking has no signature.")(
    _stating("thinking", is_streamed=False), drop_value(*_BLOCK, "signature")
)
OPERATORS.add("S7-stated-signed-otherwise", "The line that states thinking is signed otherwise.")(
    _stating("thinking"), set_value("another", *_BLOCK, "signature")
)
OPERATORS.add("X16-answer-as-thought", "A delta of text comes as one of thinking.")(
    lambda stream: delta_places(stream, "text"),
    set_value({"type": "thinking_delta", "thinking": "Hm."}, "event", "delta"),
)
OPERATORS.add("X16-thought-as-answer", "A delta of thinking comes as one of text.")(
    lambda stream: delta_places(stream, "thinking"),
    set_value({"type": "text_delta", "text": "Hm."}, "event", "delta"),
)
OPERATORS.add("I11-message-renamed", "A line states a block of a message that nobody began.")(
    _stating("thinking"), prolong_text("-other", "message", "id")
)
OPERATORS.add("I11-call-renamed", "The line that states a call has another id.")(
    _stating("tool_use"), prolong_text("-other", *_BLOCK, "id")
)
OPERATORS.add("T3-call-renamed", "The line that states a call has another name.")(
    _stating("tool_use"), prolong_text("-other", *_BLOCK, "name")
)
OPERATORS.add("X21-other-type", "The line that states thinking has another type.")(
    _stating("thinking"), set_value("reasoning", *_BLOCK, "type")
)

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__)))
