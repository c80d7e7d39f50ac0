"""Mutation of `openai.responses`: where its events hold what, and its operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from conformance.core.json_values import text_at, value_at
from conformance.dialects.openai_responses import item_mutation, request_mutation
from conformance.dialects.openai_responses.vocabulary import (
    CREATED,
    DELTAS,
    DONES,
    ITEM_ADDED,
    ITEM_DONE,
    PART_DONES,
    PARTS_ADDED,
    TERMINALS,
)
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.piece import Piece

_INDICES: Final = ("output_index", "content_index", "summary_index")
_KINDS: Final[dict[str, TextKind]] = {
    "raw": "thinking",
    "summary": "thinking",
    "text": "text",
    "refusal": "refusal",
    "arguments": "arguments",
}


def _event_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    kind = DELTAS.get(piece.type)
    if kind is not None:
        group = (piece.type, *(value_at(piece.payload, key) for key in _INDICES))
        yield Delta(place, (("delta",),), _KINDS[kind], group, text_at(piece.payload, "delta"))


def _error_event(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "message": message, "code": code, "param": None}


def _encrypted_data(piece: Piece) -> str:
    is_closed = piece.type == ITEM_DONE
    return text_at(piece.payload, "item", "encrypted_content") if is_closed else ""


MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_event_deltas,
        error=_error_event,
        openings=(CREATED,),
        starts=(CREATED, ITEM_ADDED, *PARTS_ADDED),
        ends=(*DONES, *PART_DONES, ITEM_DONE, *TERMINALS),
        terminals=tuple(TERMINALS),
        text_ends={kind: f"{kind.removesuffix('delta')}done" for kind in DELTAS},
        text_keys=_INDICES,
        restates=True,
        named_events=True,
        event_ids=False,  # the SDKs take an id for the response's, so servers send none
        unknown_event="response.vendor_note",
        number="sequence_number",
        sentinel="[DONE]",
        reasoning_tokens=(("response", "usage", "output_tokens_details", "reasoning_tokens"),),
        opaque=_encrypted_data,
    ),
    (*item_mutation.OPERATORS, *request_mutation.OPERATORS),
    Path(__file__).with_name("legal.yaml"),
)
