"""Defects of what is sent, whatever the API: usage, lines, bytes, and how a stream ends."""

from __future__ import annotations

from typing import Final

from . import frames, wires
from .defect import EVERY_API, TEXT_APIS, Defect

OF_SENDING: Final = (
    Defect(
        "usage-missing",
        "usage is not stated",
        {
            "chat": ("wire/chat/usage-when-asked",),
            "responses": ("wire/responses/usage-present",),
            "messages": ("wire/messages/usage-counted",),
            "mistral": ("wire/mistral/body-counted", "wire/mistral/usage-with-finish"),
            "bedrock": ("wire/converse/body-fields", "wire/converse/metadata-present"),
        },
        wires=wires.usage_missing,
    ),
    Defect(
        "event-line-missing",
        "no event has its event line",
        {
            "responses": ("wire/responses/event-lines",),
            "messages": ("wire/messages/event-lines",),
            "cohere": ("wire/cohere/event-lines",),
            "interactions": ("wire/interactions/event-lines",),
        },
        frames=frames.event_line_missing,
    ),
    Defect(
        "event-line-wrong",
        "every event line says `message`",
        {
            "responses": ("wire/responses/event-name-agrees",),
            "messages": ("wire/messages/event-name-agrees",),
            "cohere": ("wire/cohere/event-name-agrees",),
            "interactions": ("wire/interactions/event-name-agrees",),
        },
        frames=frames.event_line_wrong,
    ),
    Defect(
        "last-event-unfinished",
        "the blank line after the last event is not sent",
        {
            "chat": ("wire/chat/done-present", "wire/sse/last-event-complete"),
            "responses": ("wire/responses/terminal-present", "wire/sse/last-event-complete"),
            "messages": ("wire/messages/stop-present", "wire/sse/last-event-complete"),
            "cohere": ("wire/cohere/sentinel-present", "wire/sse/last-event-complete"),
            "interactions": ("wire/interactions/sentinel-present", "wire/sse/last-event-complete"),
            "mistral": ("wire/chat/done-present", "wire/sse/last-event-complete"),
            "gemini": (
                "wire/gemini/finish-stated",
                "wire/gemini/thoughts-counted",
                "wire/sse/last-event-complete",
            ),
        },
        frames=frames.last_event_unfinished,
        live=("scenario/ending",),
    ),
    Defect(
        "torn-bytes",
        "characters of several bytes lack their last byte",
        {
            **dict.fromkeys(
                TEXT_APIS,
                (
                    "stripping/opt-in/stream-equals-body",
                    "stripping/opt-in/stream-thinks-as-body",
                    "thinking/stream/characters-whole",
                    "wire/sse/utf8",
                ),
            ),
            "ollama": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/ollama/utf8",
            ),
        },
        frames=frames.torn_bytes,
    ),
    Defect(
        "error-line",
        "behind the last event stands a line `error: {...}`",
        {
            **dict.fromkeys(TEXT_APIS, ("wire/sse/fields-known",)),
            "ollama": ("wire/ollama/done-last", "wire/ollama/line-is-json"),
        },
        frames=frames.error_line,
    ),
    Defect(
        "comment-as-data",
        "a comment that keeps the connection awake is sent as data",
        {
            **dict.fromkeys(TEXT_APIS, ("wire/sse/data-is-json",)),
            "ollama": ("wire/ollama/line-is-json",),
            "gemini": ("wire/gemini/payload-known", "wire/sse/data-is-json"),
        },
        frames=frames.comment_as_data,
    ),
    Defect(
        "reset",
        "the connection is closed after the fourth event",
        {
            **dict.fromkeys(EVERY_API, ("wire/sse/ends-cleanly",)),
            "bedrock": ("history/converse/signature-present", "wire/sse/ends-cleanly"),
        },
        frames=frames.reset,
        live=("scenario/ending",),
    ),
)
