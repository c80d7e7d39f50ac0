"""Mutation of `mistral.chat`: that of Chat Completions, and operators on parts of content."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from conformance.core.json_values import list_at, text_at, value_at
from conformance.dialects.openai_chat.message_mutation import CHOICE, DELTA, tool_places
from conformance.dialects.openai_chat.mutation import MUTATION as CHAT
from conformance.editing.chunks import chunk_places, finish_places, plain_places, write_chunk
from conformance.editing.edits import (
    drop_value,
    places_with,
    request_body,
    set_value,
    thinking_shown,
)
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
# On what this API has not: details and fields of thinking, usage in a chunk of its own, calls in
# fragments.
_FOREIGN: Final = frozenset(
    {
        *("S1-no-signature", "S4-late-signature", "S4-own-detail", "S6-signature-alone"),
        *("S8-no-detail-index", "N1-mirrored", "H3-lost-thinking", "H4-thinking-in-content"),
        *("U5-no-usage", "U6-usage-first"),
        *("T3-doubled-fragment", "T3-lost-fragment", "T4-named-again", "T8-typed-again"),
    }
)
_CONTENT: Final = (*DELTA, "content")
_PART: Final = (*_CONTENT, 0)
_BODY: Final = (*CHOICE, "message", "content")


def _parts(kind: str) -> Sites:
    """Chunks whose first part is of a type."""
    return lambda stream: [
        n for n in chunk_places(stream) if stream.text_at(n, *_PART, "type") == kind
    ]


def _bodies(stream: Stream) -> list[int]:
    """Bodies whose first part is thinking."""
    return [n for n, _ in stream.events() if stream.text_at(n, *_BODY, 0, "type") == "thinking"]


def _end_marks(stream: Stream) -> list[int]:
    """Chunks with the empty part that ends thinking."""
    return [n for n in _parts("thinking")(stream) if stream.value_at(n, *_PART, "thinking") == []]


def _signed(piece: Piece) -> str:
    parts = list_at(piece.payload, *_CONTENT)
    return next(filter(None, (text_at(part, "signature") for part in parts)), "")


@OPERATORS.edit("X9-thinking-after-end", _end_marks)
def _think_again(stream: Stream, site: int) -> Stream:
    """Thinking goes on behind the part that ended it."""
    more = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    return stream.insert(site + 1, write_chunk(stream, site, {"content": [more]}))


def _spoken(stream: Stream) -> list[int]:
    """Texts that are no parts, behind parts of thinking."""
    parts = _parts("thinking")(stream)
    found = [n for n in plain_places(stream) if stream.text_at(n, *_CONTENT)]
    return [n for n in found if parts and n > parts[0]]


def _thoughts(stream: Stream) -> list[int]:
    texts = _parts("thinking")(stream)
    return [n for n in texts if stream.text_at(n, *_PART, "thinking", 0, "text")]


@OPERATORS.edit("N14-thinking-is-text", _thoughts)
def _unwrap(stream: Stream, site: int) -> Stream:
    """The thinking of a part is a text and not in parts itself."""
    text = stream.text_at(site, *_PART, "thinking", 0, "text")
    return stream.with_value(site, (*_PART, "thinking"), text)


@OPERATORS.edit("N1-thinking-in-field", _thoughts)
def _move_to_field(stream: Stream, site: int) -> Stream:
    """Thinking comes in a field of its own."""
    text = stream.text_at(site, *_PART, "thinking", 0, "text")
    delta = {"content": "", "reasoning_content": text}
    return stream.with_value(site, DELTA, delta)


def _effort_requested(stream: Stream) -> list[int]:
    body = request_body(stream)
    return [*thinking_shown(stream)] if isinstance(value_at(body, "reasoning_effort"), str) else []


def _calls(stream: Stream) -> list[int]:
    return tool_places(stream)[:1]


OPERATORS.add("N10-untyped-part", "A part of content has no type.")(
    lambda stream: [*_parts("thinking")(stream), *_parts("text")(stream)],
    drop_value(*_PART, "type"),
)
OPERATORS.add("N2-part-renamed", "A part of thinking has the type of another API.")(
    _parts("thinking"), set_value("reasoning", *_PART, "type")
)
OPERATORS.add("X15-body-thinking-last", "Thinking of a body comes after its text.")(
    lambda stream: [n for n in _bodies(stream) if stream.text_at(n, *_BODY, -1, "type") == "text"],
    lambda stream, site: stream.with_value(site, _BODY, stream.list_at(site, *_BODY)[::-1]),
)
OPERATORS.add("N14-string-in-content", "A part of content is a bare text.")(
    _parts("text"), lambda stream, site: stream.with_value(site, _PART, _text_of(stream, site))
)
OPERATORS.add("X12-left-open", "Thinking says that it is open, and text follows.", most=1)(
    lambda stream: _thoughts(stream)[-1:] if _spoken(stream) and not _end_marks(stream) else [],
    set_value(False, *_PART, "closed"),
)
OPERATORS.add("U10-reason-eos", "The finish reason is that of an engine.")(
    finish_places, set_value("eos", *CHOICE, "finish_reason")
)
OPERATORS.add("U5-finish-without-usage", "The chunk that finishes counts nothing.")(
    lambda stream: [n for n in finish_places(stream) if stream.value_at(n, "usage")],
    drop_value("usage"),
)
OPERATORS.add("U5-body-without-usage", "A body counts nothing.")(
    lambda stream: places_with("usage")(stream) if stream.is_body else [], drop_value("usage")
)


def _text_of(stream: Stream, site: int) -> Any:
    return stream.value_at(site, *_PART, "text")


MUTATION: Final = Mutation(
    replace(
        CHAT.layout,
        opaque=_signed,
        elements={**CHAT.layout.elements, "chat.part": _PART},
    ),
    (
        *(each for each in CHAT.operators if each.name not in _FOREIGN),
        *OPERATORS,
        *operator_rows(__file__, effort_requested=_effort_requested, bodies=_bodies, calls=_calls),
    ),
)
