"""Mutation of `mistral.chat`: that of Chat Completions, and operators on parts of content."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from conformance.core.json_values import list_at, text_at, value_at
from conformance.dialects.openai_chat.message_mutation import CHOICE, DELTA, tool_places
from conformance.dialects.openai_chat.mutation import MUTATION as CHAT
from conformance.editing.chunks import chunk_places, finish_places, plain_places
from conformance.editing.edits import drop_value, request_body, thinking_shown
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


_thinking_parts, _text_parts = _parts("thinking"), _parts("text")


def _typed_parts(stream: Stream) -> list[int]:
    return [*_thinking_parts(stream), *_text_parts(stream)]


def _bodies(stream: Stream) -> list[int]:
    """Bodies whose first part is thinking."""
    return [n for n, _ in stream.events() if stream.text_at(n, *_BODY, 0, "type") == "thinking"]


def _end_marks(stream: Stream) -> list[int]:
    """Chunks with the empty part that ends thinking."""
    return [n for n in _thinking_parts(stream) if stream.value_at(n, *_PART, "thinking") == []]


def _signed(piece: Piece) -> str:
    parts = list_at(piece.payload, *_CONTENT)
    return next(filter(None, (text_at(part, "signature") for part in parts)), "")


def _spoken(stream: Stream) -> list[int]:
    """Texts that are no parts, after parts of thinking."""
    parts = _thinking_parts(stream)
    found = [n for n in plain_places(stream) if stream.text_at(n, *_CONTENT)]
    return [n for n in found if parts and n > parts[0]]


def _thoughts(stream: Stream) -> list[int]:
    return [n for n in _thinking_parts(stream) if stream.text_at(n, *_PART, "thinking", 0, "text")]


def _last_open_thought(stream: Stream) -> list[int]:
    """The last thinking that text follows, where nothing says that it ended."""
    return _thoughts(stream)[-1:] if _spoken(stream) and not _end_marks(stream) else []


def _effort_requested(stream: Stream) -> list[int]:
    body = request_body(stream)
    return [*thinking_shown(stream)] if isinstance(value_at(body, "reasoning_effort"), str) else []


def _calls(stream: Stream) -> list[int]:
    return tool_places(stream)[:1]


OPERATORS.add("U5-finish-without-usage", "The chunk that finishes counts nothing.")(
    lambda stream: [n for n in finish_places(stream) if stream.value_at(n, "usage")],
    drop_value("usage"),
)


MUTATION: Final = Mutation(
    replace(
        CHAT.layout,
        opaque=_signed,
        elements={**CHAT.layout.elements, "chat.part": _PART},
    ),
    (
        *(each for each in CHAT.operators if each.name not in _FOREIGN),
        *OPERATORS,
        *operator_rows(__file__, globals()),
    ),
)
