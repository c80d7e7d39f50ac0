"""Token counts of both Gemini APIs, which count thinking and tools beside prompt and answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.dialects.json_edge import whole


def token_counts(usage: dict[str, Any], keys: Sequence[str], total: str) -> dict[str, int | None]:
    """Counts in the words of all dialects.

    `keys` name those of prompt, answer, thinking and use of tools, `total` that of all.
    """
    prompt, said, thought, tools = (whole(usage.get(key)) for key in keys)
    return {
        "input": None if prompt is None else prompt + (tools or 0),
        "output": None if said is thought is None else (said or 0) + (thought or 0),
        "reasoning": thought,
        "total": whole(usage.get(total)),
    }
