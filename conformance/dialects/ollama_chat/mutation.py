"""Mutation of `ollama.chat`: where its lines hold what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.json_values import cut_at, value_at
from conformance.editing.layout import ChunkLayout, StreamLayout
from conformance.editing.operator import Mutation

_LAST: Final = (
    *("done_reason", "total_duration", "load_duration", "prompt_eval_count"),
    *("prompt_eval_duration", "eval_count", "eval_duration"),
)


def _unfinished(payload: Any, message: Mapping[str, Any]) -> Any:
    for key in _LAST:
        payload = cut_at(payload, (key,))
    role = value_at(payload, "message", "role")
    whole = {"role": role, "content": "", **message}
    return {**payload, "message": whole, "done": False}


MUTATION: Final = Mutation(
    StreamLayout(
        texts={"": {"thinking": ("message", "thinking"), "text": ("message", "content")}},
        error=lambda message, _code: {"error": message},
        elements={
            "ollama.tool": ("message", "tool_calls", 0),
            "models.entry": ("models", 0),
        },
        chunk=ChunkLayout(
            holder=("message",),
            message=("message",),
            finish=("done_reason",),
            usage=("eval_count",),
            text="content",
            thinking=("thinking",),
            unfinished=_unfinished,
            once=(("tool_calls", 0),),
            free_empty_texts=False,
        ),
    ),
)
