"""How usage counts thinking: where the count stands, and whether the output includes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.dialects.json_edge import mapping, whole


def tokens(usage: Mapping[str, Any], *, thought: bool) -> Iterator[tuple[str, Any]]:
    """Values of `reasoning_tokens` and `tokens`, as far as a usage object states them."""
    details = mapping(usage.get("completion_tokens_details"))
    inside = whole(details.get("reasoning_tokens"))
    counted = inside or whole(usage.get("reasoning_tokens"))
    if usage and thought:
        yield "reasoning_tokens", _reasoning_tokens(usage, inside)
    if counted:
        yield "tokens", _reasoning_included(usage, counted)


def _reasoning_tokens(usage: Mapping[str, Any], inside: int | None) -> str:
    if inside:
        return "counted"
    if whole(usage.get("reasoning_tokens")):
        return "top_level"
    stated = "completion_tokens_details" in usage or "reasoning_tokens" in usage
    return "zero" if stated else "absent"


def _reasoning_included(usage: Mapping[str, Any], reasoning: int) -> str | None:
    prompt, output, total = (
        whole(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if prompt is None or output is None:
        return None
    if reasoning > output or total == prompt + output + reasoning:
        return "exclusive"
    return "inclusive"
