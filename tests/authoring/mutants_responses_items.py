"""Mutants of `wire/responses-items`, and of what bodies and closing events state of items."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber, typed
from tests.authoring.mutant import SAID_ONCE, Mutant
from tests.authoring.mutants_parts import RAW
from tests.authoring.mutants_responses import COMPLETED, MESSAGE_ADDED
from tests.authoring.pieces import Fields, Message, Piece, at
from tests.authoring.turns import answers, in_body

CALLS: Final = "openai.responses/openai/listed-tools-then-calls"
RAW_BODY: Final = "openai.responses/deepseek/raw-body"
UNSTATED: Final = "openai.responses/transformers/raw-without-parts"

CALL_ADDED: Final = typed("response.output_item.added", "function_call")
CALL_CLOSED: Final = typed("response.output_item.done", "function_call")
THINKING_CLOSED: Final = typed("response.output_item.done", "reasoning")


def _is_raw(message: Message) -> bool:
    return str(at(message.payload, "type")).startswith("response.reasoning_text.")


def _of_thinking(message: Message) -> bool:
    return bool(message.payload.get("output_index") == 0)


def _as_text(pieces: Pieces) -> list[Piece]:
    """The thinking is sent as text, inside its reasoning item."""
    renamed = [
        _renamed(piece) if isinstance(piece, Message) and _of_thinking(piece) else piece
        for piece in pieces
    ]
    closed = edits.change(THINKING_CLOSED, "item", _untyped)(renamed)
    return edits.change(COMPLETED, "response.output.0", _untyped)(closed)


def _renamed(piece: Message) -> Message:
    kind = str(at(piece.payload, "type")).replace("reasoning_text", "output_text")
    payload = {**piece.payload, "type": kind}
    if at(payload, "part.type"):
        payload["part"] = {**payload["part"], "type": "output_text"}
    return Message(payload, kind)


def _under_message(pieces: Pieces) -> list[Piece]:
    """The thinking comes under the message, once that is announced."""
    place = {"output_index": 1, "item_id": "msg_02", "content_index": 1}
    moved = [p for p in pieces if isinstance(p, Message) and _is_raw(p)]
    rest = [p for p in pieces if p not in moved]
    spot = edits.place(rest, MESSAGE_ADDED) + 1
    retold = [Message({**piece.payload, **place}, piece.event) for piece in moved]
    return [*rest[:spot], *retold, *rest[spot:]]


def _untyped(item: Fields) -> Fields:
    return {**item, "content": [{**part, "type": "output_text"} for part in item["content"]]}


MUTANTS: Final = (
    # A bridge that makes one id per response.
    Mutant(
        "wire/responses-items/call-ids-distinct",
        CALLS,
        (
            edits.change(CALL_ADDED, "item.call_id", "call_fc_03", 1),
            edits.change(CALL_CLOSED, "item.call_id", "call_fc_03", 1),
            edits.change(COMPLETED, "response.output.3.call_id", "call_fc_03"),
        ),
    ),
    # A bridge that knows one kind of text.
    Mutant(
        "wire/responses-items/text-in-message",
        RAW,
        (_as_text,),
        also=(
            "thinking/stream/before-text",
            "wire/responses-parts/raw-item-agrees",
            "wire/responses-parts/raw-part-type",
        ),
    ),
    Mutant(
        "wire/responses-items/thinking-in-reasoning",
        UNSTATED,
        (_under_message, renumber),
        (SAID_ONCE,),
    ),
    # A bridge that knows one kind of part.
    Mutant(
        "wire/responses-parts/raw-part-type",
        RAW_BODY,
        turns={1: answers(in_body("output.0", _untyped))},
        name="wire/responses-parts/raw-part-type-in-body",
    ),
)
