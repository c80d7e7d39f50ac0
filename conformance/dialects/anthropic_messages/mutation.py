"""Mutation of `anthropic.messages`: where events hold what, operators on blocks and signatures."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.anthropic_messages.wire_keys import EVENTS
from conformance.editing.deltas import delta_places
from conformance.editing.edits import (
    ask_otherwise,
    deltas_of,
    double_piece,
    drop_piece,
    drop_value,
    ends_before,
    lists_between,
    move_after_next,
    move_before,
    places_of,
    places_with,
    raise_value,
    request_sites,
    reuse_index,
    right_after,
    set_value,
    shortened,
    turn_around,
    typed_by,
)
from conformance.editing.operator import Edit, Mutation, OperatorTable
from conformance.editing.stream import Stream

_START: Final = "content_block_start"
_DELTA: Final = "content_block_delta"
_STOP: Final = "content_block_stop"
_STOP_REASON: Final = ("delta", "stop_reason")
OPERATORS: Final = OperatorTable()
_RETURNED: Final = ("messages", "*", "content", "*", "thinking")


def _error_event(message: str, code: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": {"message": message, "code": code, "type": "overloaded_error"},
    }


_LAYOUT: Final = EVENTS.layout(
    error=_error_event,
    repeatable=("message_delta",),
    text_keys=("index",),
    named_events=True,
)


_signatures: Final = typed_by(_DELTA, "delta", "type")("signature_delta")
_starts_of: Final = typed_by(_START, "content_block", "type")


def _first_text(stream: Stream) -> list[int]:
    return delta_places(stream, "text")[:1] if _signatures(stream) else []


@OPERATORS.edit("S2-signature-in-text", _first_text)
def _sign_text(stream: Stream, site: int) -> Stream:
    """A signature comes in a block of text."""
    signature = stream.pieces[_signatures(stream)[0]].payload["delta"]
    payload = {**stream.pieces[site].payload, "delta": signature}
    return stream.insert(site + 1, stream.pieces[site].with_payload(payload))


def _later_starts(stream: Stream) -> list[int]:
    return stream.typed(_START)[1:]


@OPERATORS.edit("X9-prefilled-block", _starts_of("thinking", "text"))
def _prefill_block(stream: Stream, site: int) -> Stream:
    """A block is announced with text."""
    kind = stream.text_at(site, "content_block", "type")
    return stream.with_value(site, ("content_block", kind), "Hm, ")


def _blocks_before_text(stream: Stream) -> list[int]:
    """Starts of thinking whose block a block of text follows at once."""
    found = _starts_of("thinking", "redacted_thinking")(stream)
    return [n for n in found if _next_start(stream, n) in _starts_of("text")(stream)]


def _next_start(stream: Stream, place: int) -> int:
    return next((n for n in stream.typed(_START) if n > place), -1)


@OPERATORS.edit("X15-thinking-block-late", _blocks_before_text)
def _think_after_text(stream: Stream, site: int) -> Stream | None:
    """A block of thinking comes after the text it led to."""
    index, following = stream.value_at(site, "index"), _next_start(stream, site)
    ends = [n for n in stream.typed(_STOP) if n > following]
    if not ends:
        return None
    for place in stream.typed(_START, _DELTA, _STOP):
        if site <= place <= ends[0]:
            swapped = index + 1 if stream.value_at(place, "index") == index else index
            stream = stream.with_value(place, ("index",), swapped)
    for _ in range(following, ends[0] + 1):
        stream = stream.move(ends[0], site)
    return stream


def _signed_starts(stream: Stream) -> list[int]:
    found = _starts_of("thinking")(stream)
    return [n for n in found if stream.value_at(n, "content_block", "signature") is not None]


def _streamed_usage(stream: Stream) -> list[int]:
    return [n for n in stream.typed("message_delta") if stream.value_at(n, "usage")]


@OPERATORS.edit("U1-sentinel-added", places_of("message_stop"))
def _add_sentinel(stream: Stream, site: int) -> Stream | None:
    """A [DONE] line follows the message."""
    if not stream.framed:
        return None
    return stream.insert(site + 1, stream.pieces[site].as_sentinel("[DONE]"))


@OPERATORS.edit("U3-other-stop-reason", places_with(*_STOP_REASON))
def _stop_otherwise(stream: Stream, site: int) -> Stream:
    """A second delta of the message gives another stop reason."""
    other = "max_tokens" if stream.value_at(site, *_STOP_REASON) != "max_tokens" else "end_turn"
    doubled = stream.insert(site + 1, stream.pieces[site])
    return doubled.with_value(site + 1, _STOP_REASON, other)


def _put_delta(kind: str, field: str) -> Edit:
    """A delta of another kind than its block."""
    return set_value({"type": kind, field: "Hm."}, "delta")


OPERATORS.add("I10-block-index-reused", "A block takes the index of the first one.")(
    _later_starts, reuse_index("index", _START, _DELTA, _STOP)
)
OPERATORS.add("X4-block-overlap", "A block ends after the next one began.")(
    ends_before(_STOP, _START), move_after_next(_START)
)
OPERATORS.add("X15-body-thinking-last", "Thinking of a whole message comes after its text.")(
    lists_between("content", first=("thinking", "redacted_thinking"), last="text"),
    turn_around("content"),
)
OPERATORS.add("X16-other-kind", "A delta of text comes in a block of thinking.")(
    deltas_of("thinking"), _put_delta("text_delta", "text")
)
OPERATORS.add("X16-thinking-in-text", "A delta of thinking comes in a block of text.")(
    deltas_of("text"), _put_delta("thinking_delta", "thinking")
)
OPERATORS.add("I10-block-index-off", "A delta names another block.")(
    places_of(_DELTA), raise_value("index")
)
OPERATORS.add("I10-no-block-index", "An event of a block has no index.", most=4)(
    places_of(_START, _DELTA, _STOP), drop_value("index")
)
OPERATORS.add("S1-unsigned", "The signature of thinking is lost.")(_signatures, drop_piece)
OPERATORS.add("S3-signed-twice", "Thinking is signed twice.")(_signatures, double_piece)
OPERATORS.add("S4-signed-early", "The signature comes before the last thinking.")(
    right_after(_signatures, deltas_of("thinking")), move_before
)
OPERATORS.add("S5-no-redacted-data", "Redacted thinking has no data.")(
    _starts_of("redacted_thinking"), drop_value("content_block", "data")
)
OPERATORS.add("U4-no-stop-reason", "The message stops for no reason.")(
    places_with(*_STOP_REASON), set_value(None, *_STOP_REASON)
)
OPERATORS.add("U10-unknown-stop-reason", "The stop reason is no known one.")(
    places_with(*_STOP_REASON), set_value("eos", *_STOP_REASON)
)
OPERATORS.add("U5-delta-without-usage", "The message's delta has no usage.")(
    _streamed_usage, drop_value("usage")
)
OPERATORS.add("U13-no-output-counted", "The message's delta counts no output.")(
    _streamed_usage, set_value(0, "usage", "output_tokens")
)
OPERATORS.add("N11-no-type", "An event does not say in its data what it is.", most=6)(
    places_of(_START, _DELTA, "message_delta"), drop_value("type")
)
OPERATORS.add("X9-delta-without-text", "A delta of text has none.", most=4)(
    places_with("delta", "text"), drop_value("delta", "text")
)
OPERATORS.add("N10-no-message", "The start of a message has no message.")(
    places_of("message_start"), drop_value("message")
)
OPERATORS.add("N10-no-block", "The start of a block has no block.")(
    places_of(_START), drop_value("content_block")
)
OPERATORS.add("N10-no-start-text", "A block of thinking starts without its text.")(
    _starts_of("thinking"), drop_value("content_block", "thinking")
)
OPERATORS.add("N10-no-start-signature", "A block of thinking starts without a signature.")(
    _signed_starts, drop_value("content_block", "signature")
)
OPERATORS.add("T5-nameless-use", "A tool use has no name.")(
    _starts_of("tool_use"), drop_value("content_block", "name")
)
OPERATORS.add("H2-shortened-thinking", "Thinking goes back with half of its text.")(
    request_sites(*_RETURNED, beside="signature"),
    ask_otherwise(shortened, *_RETURNED, beside="signature"),
)

MUTATION: Final = Mutation(_LAYOUT, tuple(OPERATORS))
