"""Mutation of `agui`: where its events hold what, operators on runs, spans and snapshots."""

from __future__ import annotations

from typing import Final

from conformance.dialects.agui.wire_keys import EVENTS
from conformance.editing.deltas import find_deltas
from conformance.editing.edits import first_of, places_of, with_upstream
from conformance.editing.operator import Edit, Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()


_LAYOUT: Final = EVENTS.layout(
    error=lambda message, code: {"type": "RUN_ERROR", "message": message, "code": code},
    error_ends=False,
    refuses=frozenset({"ping"}),  # clients of 0.0.x refuse what they do not know
    text_keys=("messageId", "toolCallId"),
)


@OPERATORS.edit("X19-late-end", with_upstream(places_of("REASONING_MESSAGE_END")))
def _end_late(stream: Stream, site: int) -> Stream | None:
    """Reasoning ends when the text is over."""
    last = stream.typed("TEXT_MESSAGE_CONTENT")
    return stream.move(site, last[-1]) if last else None


def _restate_last(key: str, more: str) -> Edit:
    """The last message of a snapshot, an answer that was streamed, is stated in another way."""

    def edit(stream: Stream, site: int) -> Stream | None:
        messages = stream.value_at(site, "messages")
        last = messages[-1] if messages else {}
        texts = {each.text for each in find_deltas(stream, "text")}
        if last.get("role") != "assistant" or not texts or not isinstance(last.get(key), str):
            return None
        changed = [*messages[:-1], {**last, key: last[key] + more}]
        return stream.with_value(site, ("messages",), changed)

    return edit


OPERATORS.add("X25-snapshot-adds", "A snapshot adds words to what was streamed.")(
    places_of("MESSAGES_SNAPSHOT"), _restate_last("content", " And on.")
)
OPERATORS.add("X25-snapshot-renames", "A snapshot has another id for what was streamed.")(
    places_of("MESSAGES_SNAPSHOT"), _restate_last("id", "-stored")
)


@OPERATORS.edit("N11-text-around-reasoning", first_of(places_of("TEXT_MESSAGE_START")))
def _open_early(stream: Stream, site: int) -> Stream | None:
    """A text is opened before the reasoning in front of it."""
    spans = [n for n in stream.typed("REASONING_START") if n < site]
    return stream.move(site, spans[-1]) if spans else None


@OPERATORS.edit("T6-result-lost", places_of("TOOL_CALL_RESULT"))
def _lose_result(stream: Stream, site: int) -> Stream | None:
    """The snapshot alone has the result of a call."""
    call = stream.text_at(site, "toolCallId")
    snapshots = [stream.value_at(n, "messages") for n in stream.typed("MESSAGES_SNAPSHOT")]
    stated = {each.get("toolCallId") for messages in snapshots for each in messages}
    return stream.without(site) if call in stated else None


MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
