"""What scripted answers of both native APIs of Ollama have in common."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.endpoint import ModelListing
from conformance.dialects.script import MODEL, ScriptedAnswer

_CREATED: Final = "2026-01-01T00:00:00Z"
MODELS: Final = ModelListing(
    "/api/tags",
    base="",
    entries="models",
    name="model",
    frame={},
    details={},
    show_path="/api/show",
    shown={
        "modified_at": _CREATED,
        "details": {"format": "gguf", "family": "scripted"},
        "model_info": {},
        "capabilities": ["completion", "tools", "thinking"],
    },
)


def error_body(message: str, *, is_refusal: bool) -> dict[str, Any]:
    del is_refusal  # an error is its message, whoever is at fault
    return {"error": message}


def scripted_head() -> dict[str, Any]:
    """What is on every line."""
    return {"model": MODEL, "created_at": _CREATED, "done": False}


def scripted_last(answer: ScriptedAnswer) -> dict[str, Any]:
    """What is on the last line."""
    given, written, _ = answer.tokens
    reason = "length" if answer.word == "length" else "stop"
    counts = {"prompt_eval_count": given, "eval_count": written, "total_duration": 1}
    return {"done": True, "done_reason": reason, **counts}
