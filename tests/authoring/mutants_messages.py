"""Mutants of `wire/messages`: the life of a message."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, Where, typed
from tests.authoring.messages import answer, opening, text, thinking
from tests.authoring.messages_streams import BREAD, BREAD_TEXT
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields, Message, Piece, at, compact, cut, put

TEXT: Final = "anthropic.messages/anthropic/thinking-then-text"
BODY: Final = "anthropic.messages/anthropic/body"
SUITE: Final = "wire/messages"

STARTED: Final = typed("message_start")
ENDING: Final = typed("message_delta")
CLOSED: Final = typed("content_block_stop")


def said(kind: str) -> Where:
    """Deltas of a type."""
    return lambda message: at(message.payload, "delta.type") == f"{kind}_delta"


def _in_body(edited: Callable[[Fields], Fields]) -> Step:
    """The same edit for a message in one piece."""

    def step(pieces: Pieces) -> list[Piece]:
        (body,) = pieces
        assert isinstance(body, bytes)
        return [compact(edited(json.loads(body))).encode()]

    return step


MUTANTS: Final = (
    # A gateway tried again and did not hold back what had come before.
    Mutant(
        f"{SUITE}/start-once",
        TEXT,
        (edits.insert(Message(opening(15), "message_start"), STARTED, after=True),),
    ),
    Mutant(
        f"{SUITE}/answer-present", TEXT, (edits.drop_all(lambda message: message.event != "ping"),)
    ),
    Mutant(
        "effort/messages/disabled-means-none",
        "anthropic.messages/anthropic/thinking-off",
        (lambda _pieces: list(answer([thinking(0, BREAD), text(1, BREAD_TEXT)], (15, 44, 27))),),
    ),
    Mutant(
        "wire/messages-blocks/body-thinking-before-text",
        BODY,
        (_in_body(lambda body: put(body, "content", body["content"][::-1])),),
    ),
    Mutant(f"{SUITE}/body-fields", BODY, (_in_body(lambda body: cut(body, "stop_reason")),)),
    Mutant(
        f"{SUITE}/body-thinking-signed",
        BODY,
        (_in_body(lambda body: cut(body, "content.0.signature")),),
    ),
)
