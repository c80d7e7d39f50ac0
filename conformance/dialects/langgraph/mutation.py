"""Mutation of `langgraph`: where its events hold what, operators on chunks and states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.json_values import Path, list_at, text_at, value_at
from conformance.dialects.json_edge import mapping
from conformance.dialects.langgraph.message import is_chunk
from conformance.dialects.langgraph.reader import event_name
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece

_UNNAMED: Final = Frame("event", "", "", "", 0)
_THOUGHT: Final = (0, "additional_kwargs", "reasoning_content")
_REASONING: Final = ("usage_metadata", "output_token_details", "reasoning")
_KEYS: Final[Mapping[str, TextKind]] = {
    "text": "text",
    "thinking": "thinking",
    "reasoning": "thinking",
}

Message = dict[str, Any]


def _type_of(payload: Any) -> str:
    is_pair = isinstance(payload, list) and len(payload) == 2  # also where its type is gone
    return "messages" if is_pair else event_name(_UNNAMED, payload)


def _is_chunk(piece: Piece) -> bool:
    return is_chunk(mapping(value_at(piece.payload, 0)))


def _chunk_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """States repeat what chunks said: those alone are deltas."""
    if not _is_chunk(piece):
        return
    name = text_at(piece.payload, 0, "id")
    for path, kind, part in _texts(piece.payload):
        if text := text_at(piece.payload, *path):
            yield Delta(place, (path,), kind, (kind, name, part), text)
    for number, call in enumerate(list_at(piece.payload, 0, "tool_call_chunks")):
        if text := text_at(call, "args"):
            path = (0, "tool_call_chunks", number, "args")
            yield Delta(place, (path,), "arguments", (name, value_at(call, "index")), text)


def _texts(payload: Any) -> Iterator[tuple[Path, TextKind, Any]]:
    yield _THOUGHT, "thinking", None
    yield (0, "content"), "text", None
    for number, block in enumerate(list_at(payload, 0, "content")):
        part = value_at(block, "index")
        for key, kind in _KEYS.items():
            yield (0, "content", number, key), kind, part
        for at, each in enumerate(list_at(block, "summary")):
            path = (0, "content", number, "summary", at, "text")
            yield path, "thinking", (part, value_at(each, "index"))


def _signature(piece: Piece) -> str:
    blocks = list_at(piece.payload, 0, "content")
    keys = ("signature", "encrypted_content")
    return next(filter(None, (text_at(each, key) for each in blocks for key in keys)), "")


def _chunks(holds: Callable[[Message], bool]) -> Sites:
    """Chunks of which this holds."""
    return lambda stream: [
        place
        for place, piece in stream.events()
        if _is_chunk(piece) and holds(value_at(piece.payload, 0))
    ]


def _has_words(message: Message) -> bool:
    return bool(message.get("content") or value_at(message, "additional_kwargs", *_THOUGHT[2:]))


_saying: Final = _chunks(_has_words)
_last: Final = _chunks(lambda message: message.get("chunk_position") == "last")
_calling: Final = _chunks(lambda message: bool(message.get("tool_call_chunks")))


MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        type_of=_type_of,
        error=lambda message, code: {"error": code, "message": message},
        named_events=True,
        reasoning_tokens=((0, *_REASONING),),
        opaque=_signature,
        refuses=frozenset({"ping"}),
        restates=True,
    ),
    operator_rows(__file__, globals()),
)
