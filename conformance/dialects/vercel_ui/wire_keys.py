"""Keys of the parts of a UI message, and what these do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from conformance.dialects.event_table import EventTable
from conformance.dialects.json_edge import mapping
from conformance.dialects.vercel_ui.parts import OPAQUE_KEYS
from conformance.dialects.wire_keys import SseEnvelope, WireKeys

WIRE_KEYS: Final = WireKeys(
    texts=("delta", "inputTextDelta"),
    shown=("delta",),
    indices=("toolCallId",),
    opaque=tuple(OPAQUE_KEYS),
    words=("type", "finishReason"),
    free=("input", "output", "messageMetadata", "providerMetadata", "data"),
)


PARTS: Final = EventTable(
    openings=("start",),
    starts=("start-step", "reasoning-start", "text-start", "tool-input-start"),
    words={
        "reasoning-delta": {"thinking": ("delta",)},
        "text-delta": {"text": ("delta",)},
        "tool-input-delta": {"arguments": ("inputTextDelta",)},
    },
    text_ends={
        "reasoning-delta": "reasoning-end",
        "text-delta": "text-end",
        "tool-input-delta": "tool-input-available",
    },
    ends=("reasoning-end", "text-end", "tool-input-available", "finish-step"),
    finishes=("finish",),
    others=(
        *("tool-input-error", "tool-output-available", "tool-output-error", "tool-output-denied"),
        *("tool-approval-request", "tool-approval-response"),
        *("source-url", "source-document", "file", "reasoning-file", "custom"),
        *("abort", "message-metadata", "steering-message", "reset-step"),
    ),
)
"""Parts of any version, except `error` and `data-*`."""


def _finishes(payload: Any) -> bool:
    return mapping(payload).get("type") in ("finish", "abort")


ENVELOPE: Final = SseEnvelope(finishes=_finishes)
BOUNDS: Final = replace(PARTS.bounds(), last=frozenset({"[DONE]"}))


def no_other_columns(fields: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What a provider adds to a part goes with no other part."""
    return None if "providerMetadata" in fields else ()
