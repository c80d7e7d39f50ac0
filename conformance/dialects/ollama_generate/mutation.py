"""Mutation of `ollama.generate`: where its lines hold what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.core.json_values import cut_at, text_at
from conformance.editing.layout import ChunkLayout, Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation
from conformance.editing.piece import Piece

_TEXTS: Final[Mapping[TextKind, str]] = {"thinking": "thinking", "text": "response"}
_LAST: Final = (
    *("done_reason", "total_duration", "load_duration", "prompt_eval_count"),
    *("prompt_eval_duration", "eval_count", "eval_duration", "context"),
)


def _line_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for kind, key in _TEXTS.items():
        if text := text_at(piece.payload, key):
            yield Delta(place, ((key,),), kind, (kind,), text)


def _unfinished(payload: Any, message: Mapping[str, Any]) -> Any:
    for key in _LAST:
        payload = cut_at(payload, (key,))
    return {**cut_at(payload, ("thinking",)), "response": "", **message, "done": False}


def _error_line(message: str, _code: str) -> dict[str, Any]:
    return {"error": message}


MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_line_deltas,
        error=_error_line,
        elements={
            "models.entry": ("models", 0),
        },
        chunk=ChunkLayout(
            holder=("response",),
            message=(),
            finish=("done_reason",),
            usage=("eval_count",),
            text="response",
            thinking=("thinking",),
            unfinished=_unfinished,
            once=(),
            free_empty_texts=False,
        ),
    ),
    legal=Path(__file__).with_name("legal.yaml"),
)
