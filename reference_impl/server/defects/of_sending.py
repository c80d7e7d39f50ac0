"""Defects of what is sent, whatever the API: usage, lines, bytes, and how a stream ends."""

from __future__ import annotations

from typing import Final

from . import frames, wires
from .defect import Defect

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
            "chat": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
            "responses": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
            "messages": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
            "ollama": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/ollama/utf8",
            ),
            "cohere": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
            "interactions": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
            "mistral": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
            "gemini": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
                "wire/sse/utf8",
            ),
        },
        frames=frames.torn_bytes,
    ),
    Defect(
        "error-line",
        "behind the last event stands a line `error: {...}`",
        {
            "chat": ("wire/sse/fields-known",),
            "responses": ("wire/sse/fields-known",),
            "messages": ("wire/sse/fields-known",),
            "ollama": ("wire/ollama/done-last", "wire/ollama/line-is-json"),
            "cohere": ("wire/sse/fields-known",),
            "interactions": ("wire/sse/fields-known",),
            "mistral": ("wire/sse/fields-known",),
            "gemini": ("wire/sse/fields-known",),
        },
        frames=frames.error_line,
    ),
    Defect(
        "comment-as-data",
        "a comment that keeps the connection awake is sent as data",
        {
            "chat": ("wire/sse/data-is-json",),
            "responses": ("wire/sse/data-is-json",),
            "messages": ("wire/sse/data-is-json",),
            "ollama": ("wire/ollama/line-is-json",),
            "cohere": ("wire/sse/data-is-json",),
            "interactions": ("wire/sse/data-is-json",),
            "mistral": ("wire/sse/data-is-json",),
            "gemini": ("wire/gemini/payload-known", "wire/sse/data-is-json"),
        },
        frames=frames.comment_as_data,
    ),
    Defect(
        "reset",
        "the connection is closed after the fourth event",
        {
            "chat": ("wire/sse/ends-cleanly",),
            "responses": ("wire/sse/ends-cleanly",),
            "messages": ("wire/sse/ends-cleanly",),
            "ollama": ("wire/sse/ends-cleanly",),
            "cohere": ("wire/sse/ends-cleanly",),
            "interactions": ("wire/sse/ends-cleanly",),
            "mistral": ("wire/sse/ends-cleanly",),
            "gemini": ("wire/sse/ends-cleanly",),
            "bedrock": ("history/converse/signature-present", "wire/sse/ends-cleanly"),
        },
        frames=frames.reset,
        live=("scenario/ending",),
    ),
)
