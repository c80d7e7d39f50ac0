"""Wire events of `cohere.v2`, by what they carry."""

from __future__ import annotations

from typing import Final

from conformance.core.events import Vocabulary

NAME: Final = "cohere.v2"
UNKNOWN: Final = "cohere.unknown"
OVERFLOW: Final = "cohere.overflow"
STREAMED: Final = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "citation-end",
        "message-end",
    }
)
VOCABULARY: Final = Vocabulary(
    NAME,
    STREAMED
    | {
        "request",
        "request.item",
        "cohere.body",
        "cohere.block",
        "cohere.tool",
        "cohere.error",
        "[DONE]",
        UNKNOWN,
        OVERFLOW,
    },
)
