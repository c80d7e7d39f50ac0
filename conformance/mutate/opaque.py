"""Operators on signatures and encrypted thinking."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.json_values import cut_at, list_at, put_at, text_at, value_at
from conformance.mutate.chunks import DELTA, plain, said, with_choice
from conformance.mutate.lifecycle import ITEM_DONE, TERMINALS
from conformance.mutate.operator import Operator
from conformance.mutate.stream import Stream
from conformance.mutate.texts import CHAT, RESPONSES, deltas
from conformance.mutate.told import told

_ENOUGH: Final = 16
_ENCRYPTED: Final = "reasoning.encrypted_content"
_KEYS: Final = ("signature", "data")


def _details(stream: Stream) -> list[int]:
    return [n for n in with_choice(stream) if stream.list_at(n, *DELTA, "reasoning_details")]


def _signed(stream: Stream) -> list[int]:
    return [n for n in with_choice(stream) if _opaque_of(stream.value_at(n, *DELTA))]


def _opaque_of(delta: Any) -> str:
    """The first opaque data of a delta."""
    found = text_at(delta, "reasoning_opaque")
    details = (*list_at(delta, "reasoning_details"), *list_at(delta, "thinking_blocks"))
    return found or next(
        (text_at(each, key) for each in details for key in _KEYS if text_at(each, key)), ""
    )


def _unsigned(stream: Stream, site: int) -> Stream:
    delta = stream.value_at(site, *DELTA)
    kept = {k: v for k, v in delta.items() if k != "reasoning_opaque"}
    for name in ("reasoning_details", "thinking_blocks"):
        if name in kept:
            bare = [
                {k: v for k, v in each.items() if k not in _KEYS} for each in list_at(kept, name)
            ]
            kept[name] = bare
    return stream.changed(site, put_at(stream.pieces[site].payload, DELTA, kept))


def _first_texts(stream: Stream) -> list[int]:
    """The first chunk of visible text that can be followed by another chunk."""
    free = set(plain(stream))
    if not deltas(stream, "thinking"):
        return []  # what its first text is, only the profile's markers tell
    return [each.place for each in deltas(stream, "text") if each.place in free][:1]


def _late(stream: Stream, site: int) -> Stream:
    detail = {"type": "reasoning.text", "signature": "c2lnbmF0dXJl" * 4, "index": 0}
    return stream.inserted(site + 1, said(stream, site, {"reasoning_details": [detail]}))


def _no_detail_index(stream: Stream, site: int) -> Stream:
    path = (*DELTA, "reasoning_details", 0, "index")
    return stream.changed(site, cut_at(stream.pieces[site].payload, path))


def _thought(stream: Stream) -> list[int]:
    """Thinking in chunks that can be followed by another chunk."""
    free = set(plain(stream))
    return [each.place for each in deltas(stream, "thinking") if each.place in free]


def _signature_alone(stream: Stream, site: int) -> Stream:
    detail = {"type": "reasoning.text", "text": "", "signature": "c2ln" * 8, "index": 0}
    return stream.inserted(site + 1, said(stream, site, {"reasoning_details": [detail]}))


def _opaque(stream: Stream) -> str:
    for _, piece in stream.events():
        found = _opaque_of(value_at(piece.payload, *DELTA))
        found = found or text_at(piece.payload, "item", "encrypted_content")
        if len(found) >= _ENOUGH and piece.type in ("", ITEM_DONE):
            return found
    return ""


def _shows(stream: Stream) -> list[int]:
    return list(range(len(deltas(stream, "text")))) if _opaque(stream) else []


def _shown(stream: Stream, site: int) -> Stream:
    delta = deltas(stream, "text")[site]
    return told(stream, delta, f"{delta.text} {_opaque(stream)}")


def _encrypted(stream: Stream) -> list[int]:
    """Closed reasoning items with encrypted thinking, where the request asks for it."""
    asked = stream.exchange.request.json if stream.exchange.request else None
    if _ENCRYPTED not in list_at(asked, "include"):
        return []
    return [n for n in stream.typed(ITEM_DONE) if stream.text_at(n, "item", "encrypted_content")]


def _not_encrypted(stream: Stream, site: int) -> Stream:
    stream = stream.changed(
        site, cut_at(stream.pieces[site].payload, ("item", "encrypted_content"))
    )
    for place in stream.typed(*TERMINALS):
        payload = stream.pieces[place].payload
        for n in range(len(list_at(payload, "response", "output"))):
            payload = cut_at(payload, ("response", "output", n, "encrypted_content"))
        stream = stream.changed(place, payload)
    return stream


OPAQUE: Final = (
    Operator(
        "S1-no-signature",
        "A signature is lost.",
        _signed,
        _unsigned,
        (CHAT,),
        must="either",
        reason="a stream without a signature is good; only the next request shows the loss",
    ),
    Operator(
        "S2-no-encrypted-thinking",
        "Encrypted thinking that was asked for is lost.",
        _encrypted,
        _not_encrypted,
        (RESPONSES,),
    ),
    Operator(
        "S4-late-opaque", "Opaque data comes after visible text.", _first_texts, _late, (CHAT,)
    ),
    Operator(
        "S6-signature-alone",
        "A signature comes with empty text.",
        _thought,
        _signature_alone,
        (CHAT,),
        must="pass",
        most=1,
    ),
    Operator("S7-opaque-shown", "Opaque data is visible text.", _shows, _shown),
    Operator(
        "S8-no-detail-index",
        "A reasoning detail has no index.",
        _details,
        _no_detail_index,
        (CHAT,),
    ),
)
