"""Knobs that suites of no dialect read, with what holds where a profile declares none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NEUTRAL_KNOBS: Final[Mapping[str, Any]] = {
    "interleaved": False,
    "framing": "sse",  # each dialect has its own: what its streams fall into
    "text_markers": [
        *("<think>", "</think>", "[THINK]", "[/THINK]"),
        *("<|channel|>", "<|message|>", "<|channel>", "<channel|>"),
        *("<|START_THINKING|>", "<|END_THINKING|>", "<seed:think>", "</seed:think>"),
        *("<mm:think>", "</mm:think>", "<longcat_think>", "</longcat_think>"),
        *("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        *("<|inner_prefix|>", "<|inner_suffix|>", "<|content_thinking|>"),
        *("◁think▷", "◁/think▷"),
    ],
}
