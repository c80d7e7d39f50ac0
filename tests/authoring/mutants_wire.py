"""Mutants of `wire/sse` and `stripping/visible-text`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import delta
from tests.authoring.mutant import Mutant

TEXT: Final = "openai.chat/deepseek/thinking-then-text"
FINGERPRINT: Final = {"system_fingerprint": "fp_00"}
CONTENT: Final = "choices.0.delta.content"

MUTANTS: Final = (
    # A character of three bytes that lost its last one.
    Mutant(
        "wire/sse/utf8",
        TEXT,
        (edits.raw(delta("content"), b"They", b"\xe5\xa4 They"),),
        also=("thinking/stream/characters-whole",),
    ),
)
