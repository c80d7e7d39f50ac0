"""Mutation of `bedrock.converse`: where events hold what, operators on blocks and signatures."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import Path, text_at
from conformance.dialects.bedrock_converse.body_mutation import OPERATORS as WHOLE
from conformance.dialects.bedrock_converse.wire_keys import EVENTS
from conformance.editing.deltas import delta_places
from conformance.editing.edits import (
    deltas_of,
    first_of,
    places_with,
    reuse_index,
    right_after,
    set_value,
)
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_START: Final = "contentBlockStart"
_DELTA: Final = "contentBlockDelta"
_STOP: Final = "contentBlockStop"
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


@OPERATORS.edit("N9-nested-in-stream", deltas_of("thinking"))
def _nest_reasoning(stream: Stream, site: int) -> Stream:
    """A delta has reasoning in the form of a body."""
    text = stream.text_at(site, *_TEXTS["thinking"])
    return stream.with_value(site, _REASONING, {"reasoningText": {"text": text}})


@OPERATORS.edit("X16-two-members", _signed_thinking)
def _sign_with_text(stream: Stream, site: int) -> Stream:
    """The signature comes in one event with the last reasoning."""
    text = stream.text_at(site - 1, *_TEXTS["thinking"])
    signed = {"text": text, "signature": stream.text_at(site, *_SIGNATURE)}
    return stream.with_value(site, _REASONING, signed).without(site - 1)


def _block_with(path: Path) -> Sites:
    """Blocks with a delta that has something there, by the place of their first one."""
    return first_of(places_with(*path))


def _lose_deltas(stream: Stream, site: int) -> Stream:
    """The deltas of a block are lost, and its stop is not."""
    index = stream.value_at(site, "contentBlockIndex")
    same = [n for n in stream.typed(_DELTA) if stream.value_at(n, "contentBlockIndex") == index]
    return stream.without(*same)


def _put_delta(path: Path) -> Any:
    """A delta of another kind than its block."""
    delta: Any = "Hm."
    for key in reversed(path[1:]):
        delta = {key: delta}
    return set_value(delta, "delta")


def _later_starts(stream: Stream) -> list[int]:
    return [n for n in stream.typed(_START, _DELTA) if stream.value_at(n, "contentBlockIndex") > 0]


OPERATORS.add("I10-block-index-reused", "A block takes the index of the first one.")(
    first_of(_later_starts), reuse_index("contentBlockIndex", _START, _DELTA, _STOP)
)


def _tool_starts(stream: Stream) -> list[int]:
    return stream.holding("start", "toolUse")


OPERATORS.add("X16-other-kind", "A delta of text comes in a block of reasoning.")(
    lambda stream: delta_places(stream, "thinking")[1:], _put_delta(_TEXTS["text"])
)
OPERATORS.add("X16-thinking-in-text", "A delta of reasoning comes in a block of text.")(
    lambda stream: delta_places(stream, "text")[1:], _put_delta(_TEXTS["thinking"])
)
OPERATORS.add("S5-redacted-lost", "Redacted reasoning is lost, and its block stops.")(
    _block_with(_REDACTED), _lose_deltas
)
OPERATORS.add("X14-reasoning-deltas-lost", "Reasoning is lost, and its block stops.")(
    _block_with(_TEXTS["thinking"]), _lose_deltas
)

MUTATION: Final = Mutation(
    _LAYOUT, (*OPERATORS, *operator_rows(__file__, tool_starts=_tool_starts), *WHOLE)
)
