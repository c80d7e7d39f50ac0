"""Mutation of `claude.stream-json`: where its lines hold what, operators on what they wrap."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.anthropic_messages.wire_keys import OF_MESSAGE
from conformance.dialects.claude_stream_json.wire_keys import RUN
from conformance.editing.edits import places_of, typed_by, where_any
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


def _stating(kind: str) -> Sites:
    """Lines that state a block of that type, of a run with partial messages."""
    return where_any(places_of(_STOP), typed_by("assistant", *_BLOCK, "type")(kind))


_stated_thinking, _stated_text, _stated_calls = map(_stating, ("thinking", "text", "tool_use"))


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


MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
