"""Mutation of `openai.responses`: where its events hold what, and operators on ends and requests.

Where the request is edited, the response stays as it was recorded and does not fit it.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import cut_at, list_at, put_at, text_at
from conformance.dialects.openai_responses import item_mutation
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
from conformance.editing.edits import drop_value, places_of, request_body
from conformance.editing.layout import StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_INDICES: Final = ("output_index", "content_index", "summary_index")
_KINDS: Final[dict[str, TextKind]] = {
    "raw": "thinking",
    "summary": "thinking",
    "text": "text",
    "refusal": "refusal",
    "arguments": "arguments",
}


def _error_event(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "message": message, "code": code, "param": None}


def _encrypted_data(piece: Piece) -> str:
    is_closed = piece.type == ITEM_DONE
    return text_at(piece.payload, "item", "encrypted_content") if is_closed else ""


_USAGE: Final = ("response", "usage")
_ENCRYPTED: Final = "encrypted_content"
_FAILED: Final = ("response.failed", "response.incomplete")


OPERATORS: Final = OperatorTable()


def _last_terminal(stream: Stream) -> list[int]:
    return [] if stream.is_body else stream.terminals()[-1:]


@OPERATORS.edit("U1-done-added", _last_terminal)
def _add_sentinel(stream: Stream, site: int) -> Stream | None:
    """A [DONE] line follows the closing event."""
    if stream.sentinels() or not stream.framed:
        return None
    sentinel = stream.pieces[site].as_sentinel(stream.layout.sentinel)
    return stream.insert(len(stream.pieces), sentinel)


def _closed_with_usage(stream: Stream) -> list[int]:
    found = stream.typed("response.completed", "response.incomplete")
    return [n for n in found if stream.value_at(n, "response", "usage")]


def _with_status(stream: Stream) -> list[int]:
    return [n for n in stream.terminals() if stream.text_at(n, "response", "status")]


def _interrupted(stream: Stream) -> list[int]:
    """Closing events of failed and incomplete responses that list items."""
    return [n for n in stream.typed(*_FAILED) if stream.value_at(n, "response", "output")]


@OPERATORS.edit("E9-silent-failure", places_of("response.completed"))
def _fail_silently(stream: Stream, site: int) -> Stream:
    """A failed response is closed as completed."""
    failed = {"status": "failed", "error": {"code": "server_error"}}
    response = stream.pieces[site].payload["response"]
    return stream.with_value(site, ("response",), {**response, **failed})


def _encrypted_items(stream: Stream) -> list[int]:
    """Closed reasoning items whose thinking is encrypted only, where the request asks for it."""
    if f"reasoning.{_ENCRYPTED}" not in list_at(request_body(stream), "include"):
        return []
    found = [n for n in stream.typed(ITEM_DONE) if stream.text_at(n, "item", _ENCRYPTED)]
    return [n for n in found if not stream.list_at(n, "item", "content")]


@OPERATORS.edit("S2-no-encrypted-thinking", _encrypted_items)
def _drop_encrypted(stream: Stream, site: int) -> Stream:
    """Encrypted thinking that was requested is lost."""
    stream = stream.without_value(site, ("item", _ENCRYPTED))
    for place in stream.terminals():
        payload = stream.pieces[place].payload
        for n in range(len(list_at(payload, "response", "output"))):
            payload = cut_at(payload, ("response", "output", n, _ENCRYPTED))
        stream = stream.with_payload(place, payload)
    return stream


def _summary_shown(stream: Stream) -> list[int]:
    is_known = isinstance(request_body(stream), dict)
    return [0] if is_known and stream.typed("response.reasoning_summary_text.delta") else []


def _history_items(stream: Stream) -> list[int]:
    items = list_at(request_body(stream), "input")
    return [n for n, item in enumerate(items) if text_at(item, "type") == "reasoning"]


@OPERATORS.edit("H1-lost-reasoning-item", _history_items)
def _lose_item(stream: Stream, site: int) -> Stream:
    """A reasoning item is not sent back."""
    return stream.with_request(cut_at(request_body(stream), ("input", site)))


def _encrypted_history(stream: Stream) -> list[int]:
    body = request_body(stream)
    return [n for n in _history_items(stream) if text_at(body, "input", n, _ENCRYPTED)]


@OPERATORS.edit("H2-altered-opaque", _encrypted_history)
def _alter_encrypted(stream: Stream, site: int) -> Stream:
    """Encrypted thinking is sent back altered."""
    path, body = ("input", site, _ENCRYPTED), request_body(stream)
    data = text_at(body, *path)
    return stream.with_request(put_at(body, path, f"{data[1:]}{data[0]}"))


OPERATORS.add("U14-no-usage-details", "Usage does not say how much was thinking.")(
    lambda stream: [
        n
        for n in _closed_with_usage(stream)
        if stream.value_at(n, *_USAGE, "output_tokens_details")
    ],
    drop_value(*_USAGE, "output_tokens_details"),
)

MUTATION: Final = Mutation(
    StreamLayout(
        texts={kind: {_KINDS[what]: ("delta",)} for kind, what in DELTAS.items()},
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
    (
        *item_mutation.OPERATORS,
        *OPERATORS,
        *operator_rows(__file__, globals()),
    ),
)
