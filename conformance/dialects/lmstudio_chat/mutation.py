"""Mutation of `lmstudio.chat`: where its events hold what, and operators on results and calls."""

from __future__ import annotations

from typing import Final

from conformance.dialects.lmstudio_chat.vocabulary import EVENTS
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows

_LAYOUT: Final = EVENTS.layout(
    error=lambda message, _code: {
        "type": "error",
        "error": {"type": "internal_error", "message": message},
    },
    error_ends=False,
    named_events=True,
    reasoning_tokens=(
        ("result", "stats", "reasoning_output_tokens"),
        ("stats", "reasoning_output_tokens"),
    ),
)


MUTATION: Final = Mutation(_LAYOUT, operator_rows(__file__, globals()))
