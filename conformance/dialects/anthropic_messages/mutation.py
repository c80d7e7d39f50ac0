"""Mutation of `anthropic.messages`: where events hold what, operators on blocks and signatures."""

from __future__ import annotations

from typing import Final

from conformance.dialects.anthropic_messages.wire_keys import EVENTS
from conformance.editing.deltas import delta_places
from conformance.editing.edits import (
    places_of,
    places_with,
    typed_by,
)
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream

_START: Final = "content_block_start"
_DELTA: Final = "content_block_delta"
_STOP: Final = "content_block_stop"
_STOP_REASON: Final = ("delta", "stop_reason")
OPERATORS: Final = OperatorTable()


_LAYOUT: Final = EVENTS.layout(
    error=lambda message, code: {
        "type": "error",
        "error": {"message": message, "code": code, "type": "overloaded_error"},
    },
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


MUTATION: Final = Mutation(
    _LAYOUT,
    (*OPERATORS, *operator_rows(__file__, globals())),
)
