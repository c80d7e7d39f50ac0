"""Mutation of `bedrock.converse`: where events hold what, operators on blocks and whole bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.core.json_values import list_at, put_at, text_at, value_at
from conformance.dialects.bedrock_converse.wire_keys import EVENTS
from conformance.editing.edits import (
    deltas_of,
    places_with,
    request_body,
    right_after,
    thinking_shown,
    turn_around,
)
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_START: Final = "contentBlockStart"
_DELTA: Final = "contentBlockDelta"
_REASONING: Final = ("delta", "reasoningContent")
_SIGNATURE: Final = (*_REASONING, "signature")
_REDACTED: Final = (*_REASONING, "redactedContent")
_TEXTS: Final = EVENTS.words[_DELTA]
_CONTENT: Final = ("output", "message", "content")
_SWITCH: Final = ("additionalModelRequestFields", "thinking")

OPERATORS: Final = OperatorTable()


def _opaque(piece: Piece) -> str:
    found = (text_at(piece.payload, *path) for path in (_SIGNATURE, _REDACTED))
    return next(filter(None, found), "")


_LAYOUT: Final = EVENTS.layout(
    opaque=_opaque,
    error=lambda message, _code: {"message": message},
    raised="modelStreamErrorException",
    text_keys=("contentBlockIndex",),
    elements={"converse.block": (*_CONTENT, 0)},
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


def _bodies_holding(*path: str) -> Sites:
    """Whole messages with a block that has something there."""
    return lambda stream: [
        n
        for n, _ in stream.events()
        if any(value_at(block, *path) is not None for block in stream.list_at(n, *_CONTENT))
    ]


def _each_block(key: str, edit: Callable[[Any], Any]) -> Edit:
    """What blocks of a whole message hold under a key is something else."""

    def edited(stream: Stream, site: int) -> Stream:
        for number, block in enumerate(stream.list_at(site, *_CONTENT)):
            if key in block:
                stream = stream.with_value(site, (*_CONTENT, number, key), edit(block[key]))
        return stream

    return edited


def _has_more(stream: Stream, site: int) -> bool:
    """Whether the message ends with something else than reasoning."""
    return stream.value_at(site, *_CONTENT, -1, "reasoningContent") is None


def _with_thinking(stream: Stream) -> list[int]:
    return [*thinking_shown(stream)] if value_at(request_body(stream), *_SWITCH) else []


def _history(*path: str) -> Sites:
    """Messages of the request with a call and a block that has something there, by their place."""
    return lambda stream: [
        n
        for n, message in enumerate(list_at(request_body(stream), "messages"))
        for blocks in [list_at(message, "content")]
        if any("toolUse" in block for block in blocks)
        and any(value_at(block, *path) is not None for block in blocks)
    ]


def _in_history(key: str, edit: Callable[[Any], Any]) -> Edit:
    """Reasoning of the history that has a key is something else; None takes the block away."""

    def edited(stream: Stream, site: int) -> Stream:
        body = request_body(stream)
        found = (
            (block, value_at(block, "reasoningContent", key))
            for block in body["messages"][site]["content"]
        )
        blocks = [
            block if held is None else {"reasoningContent": changed}
            for block, held in found
            if held is None or (changed := edit(held)) is not None
        ]
        return stream.with_request(put_at(body, ("messages", site, "content"), blocks))

    return edited


OPERATORS.add("X15-reasoning-last", "Reasoning in a body comes after what it led to.")(
    lambda stream: [n for n in _bodies_holding("reasoningContent")(stream) if _has_more(stream, n)],
    turn_around(*_CONTENT),
)
OPERATORS.add("N9-flat-in-body", "Reasoning in a body has the form of a stream.")(
    _bodies_holding("reasoningContent", "reasoningText"),
    _each_block("reasoningContent", lambda held: held.get("reasoningText", held)),
)
OPERATORS.add("H1-lost-reasoning", "Reasoning that led to a call does not come back.")(
    _history("reasoningContent", "reasoningText"), _in_history("reasoningText", lambda _held: None)
)
OPERATORS.add("H1-lost-redacted", "Redacted reasoning does not come back.")(
    _history("reasoningContent", "redactedContent"),
    _in_history("redactedContent", lambda _held: None),
)
OPERATORS.add("H2-flat-history", "Reasoning comes back in the form of a stream.")(
    _history("reasoningContent", "reasoningText"), _in_history("reasoningText", lambda held: held)
)

MUTATION: Final = Mutation(_LAYOUT, (*OPERATORS, *operator_rows(__file__, globals())))
