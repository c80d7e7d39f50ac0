"""Mutation of `ollama.generate`: where its lines hold what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import cut_at
from conformance.editing.layout import ChunkLayout, StreamLayout
from conformance.editing.operator import Mutation

_LAST: Final = (
    *("done_reason", "total_duration", "load_duration", "prompt_eval_count"),
    *("prompt_eval_duration", "eval_count", "eval_duration", "context"),
)


def _unfinished(payload: Any, message: Mapping[str, Any]) -> Any:
    for key in _LAST:
        payload = cut_at(payload, (key,))
    return {**cut_at(payload, ("thinking",)), "response": "", **message, "done": False}


MUTATION: Final = Mutation(
    StreamLayout(
        texts={"": {"thinking": ("thinking",), "text": ("response",)}},
        error=lambda message, _code: {"error": message},
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
)
