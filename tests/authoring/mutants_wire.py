"""Mutants of `wire/sse` and `stripping/visible-text`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.chat import Server
from tests.authoring.chat_streams import SHORT_THOUGHT
from tests.authoring.edits import delta, done
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import opaque

TEXT: Final = "openai.chat/deepseek/thinking-then-text"
SIGNED: Final = "openai.chat/openrouter/signed-details"
SHORT: Final = "openai.chat/deepseek/short-thinking"
FINGERPRINT: Final = {"system_fingerprint": "fp_00"}
CONTENT: Final = "choices.0.delta.content"

MUTANTS: Final = (
    Mutant(
        "wire/sse/ends-cleanly", TEXT, (edits.keep(delta("content"), 1),), facts={"end": "reset"}
    ),
    # The blank line after the last event is missing, so `[DONE]` is never dispatched.
    Mutant(
        "wire/sse/last-event-complete",
        TEXT,
        (edits.raw(done, b"\n\n", b"\n"),),
        facts={"profile": "lenient"},
    ),
    Mutant(
        "wire/sse/fields-known",
        TEXT,
        (edits.insert(b'error: {"message":"upstream is slow"}\n\n', delta("content")),),
    ),
    # A character of three bytes that lost its last one.
    Mutant(
        "wire/sse/utf8",
        TEXT,
        (edits.raw(delta("content"), b"They", b"\xe5\xa4 They"),),
        also=("thinking/stream/characters-whole",),
    ),
    Mutant(
        "wire/sse/data-is-json",
        SIGNED,
        (edits.insert(b"data: GATEWAY PROCESSING\n\n", delta("content")),),
    ),
    Mutant("wire/sse/content-type", TEXT, facts={"content_type": "text/plain; charset=utf-8"}),
    # The close marker is decoded as text, in two deltas.
    Mutant(
        "stripping/visible-text/no-markers",
        TEXT,
        (
            edits.change(delta("content"), CONTENT, "nk>\n\nThey are"),
            edits.insert(Server(extra=FINGERPRINT).said(content="</thi"), delta("content")),
        ),
    ),
    Mutant(
        "stripping/visible-text/no-tool-markers",
        "openai.chat/groq/reasoning-then-tool",
        (
            edits.change(
                delta("tool_calls"),
                "choices.0.delta.tool_calls.0.function.name",
                "get_weather<|channel|>commentary",
            ),
        ),
    ),
    # The parser of calls was not asked, so the call is left in the text.
    Mutant(
        "stripping/visible-text/no-call-markers",
        TEXT,
        (
            edits.change(delta("content"), CONTENT, 'call>{"name": "look"} They are'),
            edits.insert(Server(extra=FINGERPRINT).said(content="<tool_"), delta("content")),
        ),
    ),
    # The tokens around the channel's name were dropped, the name was not.
    Mutant(
        "stripping/visible-text/no-opening-word",
        TEXT,
        (
            edits.change(delta("content"), CONTENT, "ght\nThey are"),
            edits.insert(Server(extra=FINGERPRINT).said(content="thou"), delta("content")),
        ),
    ),
    Mutant(
        "stripping/visible-text/no-short-thinking",
        SHORT,
        (edits.change(delta("content"), CONTENT, f"{SHORT_THOUGHT} At"),),
    ),
    # What was thought is sent once more as the beginning of the answer.
    Mutant(
        "stripping/visible-text/no-thinking-body",
        TEXT,
        (
            edits.change(
                delta("content"),
                CONTENT,
                "Street lamps are lit at dusk, so the hour that is asked for is in the evening."
                "\n\nThey are",
            ),
        ),
    ),
    Mutant(
        "stripping/visible-text/no-opaque-data",
        SIGNED,
        (edits.change(delta("content"), CONTENT, f"[{opaque('signature')}] They are"),),
    ),
    # Generation ends inside the thinking, and nobody writes the close marker.
    Mutant(
        "stripping/visible-text/markers-balanced",
        "openai.chat/together/length-in-think",
        (edits.drop(delta("content"), -1),),
    ),
)
