"""Knobs that suites of no dialect read, with what holds where a profile declares none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NEUTRAL_KNOBS: Final[Mapping[str, Any]] = {
    "interleaved": False,
    "framing": "sse",  # each dialect has its own: what its streams fall into
    "standard_streams": False,  # whether a dialect is that of a command, and not of HTTP
    "text_markers": [
        *("<think>", "</think>", "[THINK]", "[/THINK]"),
        *("<|channel|>", "<|message|>", "<|channel>", "<channel|>"),
        *("<|start|>", "<|end|>", "<|return|>", "<|call|>"),
        *("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        *("<|START_TEXT|>", "<|END_TEXT|>", "<seed:think>", "</seed:think>"),
        *("<mm:think>", "</mm:think>", "<longcat_think>", "</longcat_think>"),
        *("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        *("<|inner_prefix|>", "<|inner_suffix|>", "<|content_thinking|>"),
        *("◁think▷", "◁/think▷"),
    ],
    # What tool parsers of model servers look for, as far as it is no word of any other language.
    "call_markers": [
        *("<tool_call>", "</tool_call>", "<|tool_call>", "<tool_call|>", "<|tool_call|>"),
        *("<function=", "<|tool_calls_section_begin|>", "<|tool_call_begin|>"),
        *(
            "<\uff5ctool\u2581calls\u2581begin\uff5c>",
            "<\uff5ctool\u2581call\u2581begin\uff5c>",
            "<\uff5cDSML\uff5c",
            "[TOOL_CALLS]",
        ),
        *("<minimax:tool_call>", "<longcat_tool_call>", "<seed:tool_call>", "<|tool_call_start|>"),
        *("<|python_tag|>", "<|START_ACTION|>", "<|action_start|>", "<|constrain|>", "<TOOLCALL>"),
    ],
}
