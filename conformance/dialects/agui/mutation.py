"""Mutation of `agui`: where its events hold what, operators on runs, spans and snapshots."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.agui.wire_keys import EVENTS
from conformance.editing.deltas import find_deltas
from conformance.editing.edits import (
    first_of,
    places_of,
    right_after,
    with_upstream,
)
from conformance.editing.operator import Edit, Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()


def _run_error(message: str, code: str) -> dict[str, Any]:
    return {"type": "RUN_ERROR", "message": message, "code": code}


_LAYOUT: Final = EVENTS.layout(
    error=_run_error,
    error_ends=False,
    refuses=frozenset({"ping"}),  # clients of 0.0.x refuse what they do not know
    text_keys=("messageId", "toolCallId"),
)


@OPERATORS.edit("N11-start-per-delta", places_of("REASONING_MESSAGE_CONTENT"))
def _start_again(stream: Stream, site: int) -> Stream:
    """A delta of reasoning has a start of its own."""
    message_id = stream.value_at(site, "messageId")
    start = {"type": "REASONING_MESSAGE_START", "messageId": message_id, "role": "reasoning"}
    return stream.insert(site, stream.pieces[site].with_payload(start))


@OPERATORS.edit("X21-snapshot-without-reasoning", places_of("MESSAGES_SNAPSHOT"))
def _forget_reasoning(stream: Stream, site: int) -> Stream | None:
    """The snapshot has no message of the reasoning that was streamed."""
    if not find_deltas(stream, "thinking"):
        return None
    messages = stream.value_at(site, "messages")
    kept = [each for each in messages if each.get("role") != "reasoning"]
    return None if kept == messages else stream.with_value(site, ("messages",), kept)


@OPERATORS.edit("H5-diagnostic-in-text", with_upstream(first_of(places_of("TEXT_MESSAGE_CONTENT"))))
def _say_diagnostic(stream: Stream, site: int) -> Stream:
    """A word of the application's own is in the model's text."""
    return stream.with_value(site, ("delta",), f"[retrying] {stream.text_at(site, 'delta')}")


@OPERATORS.edit("X19-late-end", with_upstream(places_of("REASONING_MESSAGE_END")))
def _end_late(stream: Stream, site: int) -> Stream | None:
    """Reasoning ends when the text is over."""
    last = stream.typed("TEXT_MESSAGE_CONTENT")
    return stream.move(site, last[-1]) if last else None


@OPERATORS.edit("X22-empty-thought-shown", with_upstream(first_of(places_of("TEXT_MESSAGE_START"))))
def _show_empty_thought(stream: Stream, site: int) -> Stream:
    """A message of reasoning that nobody sent, without text, as where thinking is hidden."""
    named = {"messageId": "spare"}
    begun = {"type": "REASONING_MESSAGE_START", **named, "role": "reasoning"}
    over = {"type": "REASONING_MESSAGE_END", **named}
    start, end = (stream.pieces[site].with_payload(each) for each in (begun, over))
    return stream.insert(site, end).insert(site, start)


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


@OPERATORS.edit("X25-snapshot-drops-results", places_of("MESSAGES_SNAPSHOT"))
def _forget_results(stream: Stream, site: int) -> Stream | None:
    """The snapshot lacks the results of calls that were streamed."""
    messages = stream.value_at(site, "messages")
    kept = [each for each in messages if each.get("role") != "tool"]
    if kept == messages or not stream.typed("TOOL_CALL_RESULT"):
        return None
    return stream.with_value(site, ("messages",), kept)


@OPERATORS.edit("T6-result-lost", places_of("TOOL_CALL_RESULT"))
def _lose_result(stream: Stream, site: int) -> Stream | None:
    """The snapshot alone has the result of a call."""
    call = stream.text_at(site, "toolCallId")
    snapshots = [stream.value_at(n, "messages") for n in stream.typed("MESSAGES_SNAPSHOT")]
    stated = {each.get("toolCallId") for messages in snapshots for each in messages}
    return stream.without(site) if call in stated else None


OPERATORS.add("T6-result-early", "The result of a call comes before the end of the call.")(
    right_after(places_of("TOOL_CALL_RESULT"), places_of("TOOL_CALL_END")),
    lambda stream, site: stream.move(site, site - 1),
)

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__)))
