"""Mutation of `gemini.generate`: where its chunks hold what, operators on parts and signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.core.json_values import list_at, put_at, text_at, value_at
from conformance.dialects.gemini_generate.candidate import reason_of
from conformance.editing.edits import places_with, request_body
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_PARTS: Final = ("candidates", 0, "content", "parts")
_USAGE: Final = ("usageMetadata", "thoughtsTokenCount")
_REASON: Final = ("candidates", 0, "finishReason")
_SIGNED: Final = "thoughtSignature"
_CALL: Final = "functionCall"
_FIRST_CALL: Final = (*_PARTS, 0, _CALL)
_SIGNS_AT_WILL: Final = re.compile("gemini-[12]([^0-9]|$)")


def _chunk_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for number, part in enumerate(list_at(piece.payload, *_PARTS)):
        if text := text_at(part, "text"):
            kind: TextKind = "thinking" if part.get("thought") is True else "text"
            yield Delta(place, ((*_PARTS, number, "text"),), kind, (kind,), text)


def _signature(piece: Piece) -> str:
    found = (text_at(part, _SIGNED) for part in list_at(piece.payload, *_PARTS))
    return next(filter(None, found), "")


def _parts_where(*keys: str) -> Callable[[Stream], list[tuple[int, int]]]:
    """Parts with something under all these keys: their place, and which part it is."""
    return lambda stream: [
        (place, number)
        for place, piece in stream.events()
        for number, part in enumerate(list_at(piece.payload, *_PARTS))
        if all(value_at(part, key) for key in keys)
    ]


def _pieces_where(*keys: str) -> Sites:
    """Payloads with such a part."""
    return lambda stream: sorted({place for place, _ in _parts_where(*keys)(stream)})


def _label_thoughts(stream: Stream, site: int) -> Stream:
    for place, number in _parts_where("thought")(stream):
        if place == site:
            path = (*_PARTS, number)
            stream = stream.with_value(site, path, _labelled(stream.value_at(site, *path)))
    return stream


def _without(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda part: {name: value for name, value in part.items() if name != key}


def _labelled(part: dict[str, Any]) -> dict[str, Any]:
    return {**_without("thought")(part), "text": f"THOUGHT:\n{part['text']}"}


def _call_ends(stream: Stream) -> list[int]:
    """Where nothing is left of a call but its end."""
    return [
        place for place, piece in stream.events() if value_at(piece.payload, *_FIRST_CALL) == {}
    ]


def _unsigned_calls(stream: Stream) -> list[int]:
    """The second call of an answer, where only the first one is signed."""
    calls, signed = _parts_where(_CALL)(stream), _parts_where(_CALL, _SIGNED)(stream)
    return [1] if len(calls) > 1 and signed == calls[:1] else []


@OPERATORS.edit("S3-signature-copied", _unsigned_calls)
def _copy_signature(stream: Stream, site: int) -> Stream:
    """The signature of the first call stands on the second one, too."""
    (first, one), (second, two) = _parts_where(_CALL)(stream)[: site + 1]
    signature = stream.value_at(first, *_PARTS, one, _SIGNED)
    return stream.with_value(second, (*_PARTS, two, _SIGNED), signature)


@OPERATORS.edit("S4-signature-on-second-call", _unsigned_calls)
def _sign_second(stream: Stream, site: int) -> Stream:
    """The signature of the first call stands on the second one."""
    (first, one), (second, two) = _parts_where(_CALL)(stream)[: site + 1]
    signed = (*_PARTS, one, _SIGNED)
    moved = stream.with_value(second, (*_PARTS, two, _SIGNED), stream.value_at(first, *signed))
    return moved.without_value(first, signed)


def _thought_and_more(stream: Stream) -> list[int]:
    """Contents that begin with a thought and go on with something else."""
    found = [n for n, piece in stream.events() if len(list_at(piece.payload, *_PARTS)) > 1]
    return [
        n
        for n in found
        if stream.value_at(n, *_PARTS, 0, "thought") is True
        and stream.value_at(n, *_PARTS, -1, "thought") is not True
    ]


def _configured(*path: str | int) -> Sites:
    """One place, where the request has its settings and an answer has something at a path."""
    return lambda stream: (
        [0]
        if list(places_with(*path)(stream)) and value_at(request_body(stream), "generationConfig")
        else []
    )


_configured_thoughts, _configured_counts = _configured(*_PARTS, 0, "thought"), _configured(*_USAGE)


def _answers_alone(stream: Stream) -> list[int]:
    """The whole answer, if it is one body."""
    return [0] if stream.is_body and places_with("candidates")(stream) else []


def _reasons(stream: Stream) -> list[int]:
    """Where an answer states why it ended; the default value of the enum states nothing."""
    found = places_with(*_REASON)(stream)
    return [n for n in found if reason_of(value_at(stream.pieces[n].payload, *_REASON))]


def _later_reasons(stream: Stream) -> list[int]:
    """Where an answer ends that began in a chunk before."""
    first = min(places_with("candidates")(stream), default=0)
    found = [n for n in _reasons(stream) if n > first]
    return [n for n in found if value_at(stream.pieces[n].payload, *_FIRST_CALL) is None]


def _signed_history(stream: Stream) -> list[int]:
    """Contents of the request with a signed call; they may be counted by their place."""
    contents = list_at(request_body(stream), "contents")
    return [n for n, content in enumerate(contents) if _signed_call(content) is not None]


def _signed_call(content: Any) -> int | None:
    parts = list_at(content, "parts")
    signed = (n for n, part in enumerate(parts) if _CALL in part and _SIGNED in part)
    return next(signed, None)


def _in_history(change: Callable[[str], str | None]) -> Edit:
    """The signature of a call goes back as another one; None for none."""

    def edited(stream: Stream, site: int) -> Stream:
        body = request_body(stream)
        part = ("contents", site, "parts", _signed_call(body["contents"][site]) or 0)
        signature = change(text_at(body, *part, _SIGNED))
        kept = _without(_SIGNED)(value_at(body, *part))
        signed = kept if signature is None else {**kept, _SIGNED: signature}
        return stream.with_request(put_at(body, part, signed))

    return edited


def _signed_calls(stream: Stream) -> list[int]:
    """Signed calls of the models that sign every first call; others need not."""
    found = _pieces_where(_CALL, _SIGNED)(stream)
    return [n for n in found if not _SIGNS_AT_WILL.match(stream.text_at(n, "modelVersion"))]


OPERATORS.add("X16-thought-labelled", "A thought is text behind a label.", most=1)(
    lambda stream: _pieces_where("thought")(stream)[:1], _label_thoughts
)
OPERATORS.add("H1-unsigned-call", "A call goes back without its signature.")(
    _signed_history, _in_history(lambda _signature: None)
)
OPERATORS.add("H2-other-signature", "A call goes back with another signature.")(
    _signed_history, _in_history(lambda signature: f"{signature[1:]}{signature[0]}")
)
OPERATORS.add("H2-stand-in", "A call goes back with a placeholder for its signature.")(
    _signed_history, _in_history(lambda _signature: "skip_thought_signature_validator")
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        error=lambda message, _code: {
            "error": {"code": 500, "message": message, "status": "INTERNAL"}
        },
        reasoning_tokens=(_USAGE,),
        opaque=_signature,
        once=(_REASON, (*_PARTS, 0, _SIGNED)),
        refuses=frozenset({"comment", "empty delta", "ping"}),
        elements={
            "gemini.candidate": ("candidates", 0),
            "gemini.part": (*_PARTS, 0),
        },
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
