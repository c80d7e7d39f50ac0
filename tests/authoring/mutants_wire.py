"""Mutants of `wire/sse` and `stripping/visible-text`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.chat import Server
from tests.authoring.edits import delta
from tests.authoring.mutant import Mutant

TEXT: Final = "openai.chat/deepseek/thinking-then-text"
SIGNED: Final = "openai.chat/openrouter/signed-details"
FINGERPRINT: Final = {"system_fingerprint": "fp_00"}
CONTENT: Final = "choices.0.delta.content"

MUTANTS: Final = (
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
    # The close marker is decoded as text, in two deltas.
    Mutant(
        "stripping/visible-text/no-markers",
        TEXT,
        (
            edits.change(delta("content"), CONTENT, "nk>\n\nThey are"),
            edits.insert(Server(extra=FINGERPRINT).said(content="</thi"), delta("content")),
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
)
