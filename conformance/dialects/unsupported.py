"""Dialects that are recognised but have no reader yet, so that a stream of one is named.

Marks are structural: a key or a type that no other dialect uses. Errors, `[DONE]` and other
payloads that several dialects share name none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping


def _is_text_completion(fields: dict[str, Any]) -> bool:
    return fields.get("object") == "text_completion"


def _is_claude_completion(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "completion" and isinstance(fields.get("completion"), str)


UNSUPPORTED: Final[Mapping[str, Callable[[dict[str, Any]], bool]]] = {
    "openai.completions": _is_text_completion,
    "anthropic.complete": _is_claude_completion,
}


def named(payload: Any) -> str | None:
    """Name of the dialect without a reader that the payload belongs to."""
    fields = mapping(payload)
    return next((name for name, claims in UNSUPPORTED.items() if claims(fields)), None)
