"""Mutation of `openai.chat`: where its chunks hold what, and its operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

from conformance.core.json_values import Path, cut_at, list_at, text_at, value_at
from conformance.dialects.openai_chat import chunk_mutation, message_mutation
from conformance.dialects.openai_chat.chunk_mutation import CHOICE, DELTA, FINISH
from conformance.dialects.openai_chat.fields import DETAIL_TEXT, STRING_CARRIERS
from conformance.dialects.openai_chat.message_mutation import CARRIERS, opaque_data
from conformance.editing.layout import ChunkLayout, Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.piece import Piece


def _chunk_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for number in range(len(list_at(piece.payload, "choices"))):
        way = ("choices", number, "delta")
        found: dict[tuple[TextKind, str, int], list[Path]] = {}
        for kind, path, tool in _text_paths(value_at(piece.payload, *way)):
            text = text_at(piece.payload, *way, *path)
            found.setdefault((kind, text, tool), []).append((*way, *path))
        choice = value_at(piece.payload, "choices", number, "index")
        for (kind, text, tool), paths in found.items():
            yield Delta(place, tuple(paths), kind, (choice, kind, tool), text, choice)


def _text_paths(delta: Any) -> Iterator[tuple[TextKind, Path, int]]:
    """Kind, path and number of the tool call of every text that a delta may hold."""
    for name in STRING_CARRIERS:
        yield "thinking", (name,), -1
    for n, detail in enumerate(list_at(delta, "reasoning_details")):
        field = DETAIL_TEXT.get(text_at(detail, "type"))
        if field is not None:
            yield "thinking", ("reasoning_details", n, field), -1
    yield "text", ("content",), -1
    for n, part in enumerate(list_at(delta, "content")):
        yield "text", ("content", n, "text"), -1
        for m in range(len(list_at(part, "thinking"))):
            yield "thinking", ("content", n, "thinking", m, "text"), -1
    yield "refusal", ("refusal",), -1
    for n, tool in enumerate(list_at(delta, "tool_calls")):
        index = value_at(tool, "index")
        number = index if isinstance(index, int) else n
        yield "arguments", ("tool_calls", n, "function", "arguments"), number


def _unfinished(payload: Any, delta: Mapping[str, Any]) -> Any:
    choice = {**value_at(payload, *CHOICE), "delta": delta}
    if "finish_reason" in choice:
        choice["finish_reason"] = None
    return {**cut_at(payload, ("usage",)), "choices": [choice]}


def _error_chunk(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "code": code, "type": "server_error"}}


MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        error=_error_chunk,
        sentinel="[DONE]",
        reasoning_tokens=(
            ("usage", "completion_tokens_details", "reasoning_tokens"),
            ("usage", "reasoning_tokens"),
        ),
        elements={
            "chat.choice": CHOICE,
            "chat.message": (*CHOICE, "message"),
            "chat.tool": (*DELTA, "tool_calls", 0),
            "chat.detail": (*DELTA, "reasoning_details", 0),
            "models.entry": ("data", 0),
        },
        opaque=lambda piece: opaque_data(value_at(piece.payload, *DELTA)),
        chunk=ChunkLayout(
            holder=("choices",),
            message=DELTA,
            finish=FINISH,
            usage=("usage",),
            text="content",
            thinking=CARRIERS,
            unfinished=_unfinished,
            once=(("role",), ("tool_calls", 0, "id")),
        ),
    ),
    (*chunk_mutation.OPERATORS, *message_mutation.OPERATORS),
    FilePath(__file__).with_name("legal.yaml"),
)
