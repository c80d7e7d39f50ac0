"""Defects between the engine and the projections: texts, calls, counts and ends."""

from __future__ import annotations

from typing import Final

from . import events
from .defect import EVERY_API, Defect

OF_EVENTS: Final = (
    Defect(
        "leak-open-marker",
        "the first visible text begins with the open marker",
        {
            **dict.fromkeys(EVERY_API, ("stripping/visible-text/no-markers",)),
            "chat": (
                "effort/chat/none-means-none",
                "stripping/opt-in/hidden-by-default",
                "stripping/visible-text/markers-balanced",
                "wire/chat/thinking-counted",
            ),
        },
        events=events.leak_open_marker,
        live=("scenario/thinking",),
    ),
    Defect(
        "leak-close-marker",
        "the text behind thinking begins with the close marker, in two pieces",
        dict.fromkeys(EVERY_API, ("stripping/visible-text/no-markers",)),
        events=events.leak_close_marker,
    ),
    Defect(
        "reasoning-in-content",
        "thinking is sent once more at the head of the visible text",
        dict.fromkeys(EVERY_API, ("stripping/visible-text/no-thinking-body",)),
        events=events.reasoning_in_content,
        # Where thinking is asked for and omitted, it is short.
        live=("stripping/visible-text/no-short-thinking",),
    ),
    Defect(
        "reasoning-late",
        "thinking is sent when all else has been said",
        {
            "chat": ("thinking/stream/before-call", "thinking/stream/marked-before-text"),
            "responses": (
                "history/responses/before-its-turn",
                "thinking/stream/before-call",
                "thinking/stream/before-text",
                "wire/responses-items/whole-thinking-first",
                "wire/responses/reasoning-before-message",
            ),
            "messages": (
                "history/messages/first-in-content",
                "wire/messages-blocks/body-thinking-before-text",
                "wire/messages-blocks/thinking-before-text",
            ),
            "ollama": ("thinking/stream/before-call", "thinking/stream/before-text"),
            "cohere": (
                "thinking/stream/before-call",
                "thinking/stream/before-text",
                "wire/cohere/thinking-before-text",
            ),
            "interactions": (
                "history/interactions/thought-before-call",
                "thinking/stream/before-call",
                "thinking/stream/before-text",
                "wire/interactions-steps/whole-thought-first",
            ),
            "mistral": ("thinking/stream/before-call", "thinking/stream/before-text"),
            "gemini": (
                "thinking/stream/before-call",
                "thinking/stream/before-text",
                "wire/gemini/thoughts-first",
            ),
            "bedrock": (
                "history/converse/reasoning-first",
                "thinking/stream/before-call",
                "thinking/stream/before-text",
                "wire/converse-blocks/body-reasoning-first",
            ),
        },
        events=events.reasoning_late,
        live=("scenario/ending",),
    ),
    Defect(
        "drop-on-boundary-chunk",
        "in streams, the text that thinking passes into is lost",
        dict.fromkeys(EVERY_API, ("stripping/opt-in/stream-equals-body",)),
        events=events.drop_on_boundary_chunk,
    ),
    Defect(
        "strip-lost-text",
        "where thinking is hidden, the text behind it lacks its first character",
        {"chat": ("stripping/opt-in/same-text",)},
        events=events.strip_lost_text,
    ),
    Defect(
        "unicode-split",
        "in streams, characters of several bytes are decoded byte by byte",
        dict.fromkeys(
            EVERY_API,
            (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/characters-whole",
            ),
        ),
        events=events.unicode_split,
    ),
    Defect(
        "text-cumulative",
        "every text delta repeats what came before it",
        dict.fromkeys(EVERY_API, ("thinking/stream/text-increments",)),
        events=events.text_cumulative,
    ),
    Defect(
        "reasoning-cumulative",
        "every delta of thinking repeats what came before it",
        dict.fromkeys(EVERY_API, ("thinking/stream/increments",)),
        events=events.reasoning_cumulative,
    ),
    Defect(
        "effort-ignored",
        "there is thinking although the request turned it off",
        {
            "responses": ("effort/responses/none-means-none",),
            "ollama": ("effort/ollama/false-means-none",),
            "cohere": ("effort/cohere/disabled-means-none",),
            "mistral": ("effort/chat/none-means-none",),
            "gemini": ("effort/gemini/nought-means-none",),
            "bedrock": ("effort/converse/disabled-is-silent",),
        },
        events=events.effort_ignored,
        live=("scenario/thinking",),
    ),
    Defect(
        "opt-in-ignored",
        "thinking is never sent, whatever the request says",
        {"chat": ("stripping/opt-in/shown-when-asked",)},
        events=events.opt_in_ignored,
        live=("scenario/thinking",),
    ),
    Defect(
        "tool-arguments-torn",
        "the last character of a call's arguments is lost",
        {
            "chat": ("wire/chat/tool-arguments-json",),
            "responses": ("wire/responses-parts/arguments-json",),
            "messages": ("wire/messages-blocks/input-json",),
            "cohere": ("wire/cohere/call-json",),
            "interactions": ("wire/interactions-steps/call-json",),
            "mistral": ("wire/chat/tool-arguments-json",),
            "bedrock": ("wire/converse-blocks/input-json",),
        },
        events=events.tool_arguments_torn,
        live=("scenario/ending",),
    ),
    Defect(
        "stop-on-tools",
        "a turn that calls a tool ends as if it were complete",
        {
            "chat": ("wire/chat/finish-says-calls",),
            "messages": ("wire/messages/tools-end-the-turn",),
            "cohere": ("wire/cohere/tools-end-the-turn",),
            "interactions": ("wire/interactions/call-requires-action",),
            "mistral": ("wire/chat/finish-says-calls", "wire/mistral/calls-not-stopped"),
            "bedrock": ("wire/converse/tools-end-the-turn",),
        },
        events=events.stop_on_tools,
    ),
    Defect(
        "reasoning-tokens-over-total",
        "usage counts more reasoning than output",
        {
            "chat": ("wire/chat/thinking-within-output",),
            "responses": ("wire/responses/thinking-within-output",),
            "messages": ("wire/messages/thinking-within-output",),
            "cohere": ("effort/cohere/budget-kept", "wire/cohere/thinking-within-output"),
            "interactions": (
                "wire/interactions/answer-counted",
                "wire/interactions/body-counted",
                "wire/interactions/total-is-sum",
            ),
            "gemini": (
                "effort/gemini/nought-means-none",
                "wire/gemini/counts-are-whole",
                "wire/gemini/total-is-sum",
            ),
        },
        events=events.reasoning_tokens_over_total,
    ),
    Defect(
        "reasoning-uncounted",
        "usage counts no reasoning",
        {
            "chat": ("wire/chat/thinking-counted",),
            "responses": (
                "wire/responses-items/whole-thinking-counted",
                "wire/responses/thinking-counted",
            ),
            "messages": ("wire/messages/thinking-count-true", "wire/messages/thinking-counted"),
            "cohere": ("wire/cohere/thinking-count-true", "wire/cohere/thinking-counted"),
            "interactions": ("wire/interactions/thoughts-counted",),
            "gemini": ("wire/gemini/thoughts-counted",),
        },
        events=events.reasoning_uncounted,
    ),
    Defect(
        "summary-missing",
        "a summary that was asked for is made, and never sent",
        {"responses": ("summary/request/comes-when-asked", "summary/request/in-body-when-asked")},
        events=events.summary_missing,
    ),
    Defect(
        "summary-unasked",
        "a summary is sent although none was asked for",
        {"responses": ("summary/request/only-when-asked",)},
        events=events.summary_unasked,
    ),
    Defect(
        "summary-uncounted",
        "the tokens of the call for a summary are not in the usage",
        {"responses": ("summary/request/usage-includes-summary",)},
        events=events.summary_uncounted,
    ),
)
