"""Mutation of `bedrock.converse`: where events hold what, operators on blocks and signatures."""

from __future__ import annotations

from typing import Final

from conformance.core.json_values import text_at
from conformance.dialects.bedrock_converse import body_mutation
from conformance.dialects.bedrock_converse.wire_keys import EVENTS
from conformance.editing.edits import deltas_of, places_with, right_after
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_START: Final = "contentBlockStart"
_DELTA: Final = "contentBlockDelta"
_REASONING: Final = ("delta", "reasoningContent")
_SIGNATURE: Final = (*_REASONING, "signature")
_REDACTED: Final = (*_REASONING, "redactedContent")
_TEXTS: Final = EVENTS.words[_DELTA]

OPERATORS: Final = OperatorTable()


def _opaque(piece: Piece) -> str:
    found = (text_at(piece.payload, *path) for path in (_SIGNATURE, _REDACTED))
    return next(filter(None, found), "")


_LAYOUT: Final = EVENTS.layout(
    opaque=_opaque,
    error=lambda message, _code: {"message": message},
    raised="modelStreamErrorException",
    text_keys=("contentBlockIndex",),
    elements={"converse.block": ("output", "message", "content", 0)},
)


_signed_thinking: Final = right_after(places_with(*_SIGNATURE), deltas_of("thinking"))


@OPERATORS.edit("X16-two-members", _signed_thinking)
def _sign_with_text(stream: Stream, site: int) -> Stream:
    """The signature comes in one event with the last reasoning."""
    text = stream.text_at(site - 1, *_TEXTS["thinking"])
    signed = {"text": text, "signature": stream.text_at(site, *_SIGNATURE)}
    return stream.with_value(site, _REASONING, signed).without(site - 1)


def _later_starts(stream: Stream) -> list[int]:
    return [n for n in stream.typed(_START, _DELTA) if stream.value_at(n, "contentBlockIndex") > 0]


def _tool_starts(stream: Stream) -> list[int]:
    return stream.holding("start", "toolUse")


_CODE: Final = {**vars(body_mutation), **globals()}
MUTATION: Final = Mutation(
    _LAYOUT, (*OPERATORS, *body_mutation.OPERATORS, *operator_rows(__file__, _CODE))
)
