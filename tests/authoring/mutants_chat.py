"""Mutants of `wire/chat`: chunks, choices and the end."""

from __future__ import annotations

import json
from typing import Final

from tests.authoring import edits
from tests.authoring.chat import Server, counted
from tests.authoring.edits import delta, having
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_wire import FINGERPRINT, TEXT
from tests.authoring.pieces import Piece, compact
from tests.authoring.turns import in_body

ONE_TOOL: Final = "openai.chat/groq/reasoning-then-tool"
ENDED: Final = "choices.0.finish_reason"
FIRST: Final = having("choices.0.delta.role")
FINISH: Final = having(ENDED)
USAGE: Final = having("usage")
THOUGHT: Final = delta("reasoning_content")
SAID: Final = delta("content")


def _without_choices(pieces: edits.Pieces) -> list[Piece]:
    (body,) = pieces
    assert isinstance(body, bytes)
    return [compact({**json.loads(body), "choices": [], "usage": None}).encode()]


MUTANTS: Final = (
    # The form of a request's content.
    Mutant(
        "wire/chat/content-is-text",
        TEXT,
        (
            edits.change(
                SAID, "choices.0.delta.content", lambda said: [{"type": "text", "text": said}]
            ),
        ),
    ),
    Mutant("wire/chat/answer-present", "openai.chat/deepseek/body", (_without_choices,)),
    Mutant(
        "wire/chat/delta-types",
        "openai.chat/deepseek/body",
        (in_body("choices.0.message.reasoning_content", lambda said: [{"text": said}]),),
        name="wire/chat/delta-types-of-a-body",
    ),
    Mutant(
        "wire/chat/empty-choices-last",
        TEXT,
        (edits.insert(Server(extra=FINGERPRINT).chunk([]), FIRST),),
    ),
    Mutant(
        "wire/chat/usage-last",
        TEXT,
        (edits.drop(USAGE), edits.change(SAID, "usage", counted((9, 20, 19)))),
    ),
)
