"""Mutants of the suites of Cohere's Chat."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.cohere import block, message
from tests.authoring.cohere_streams import GLAZE
from tests.authoring.edits import typed
from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks

TEXT: Final = "cohere.v2/cohere/thinking-then-text"
TOOLS: Final = "cohere.v2/cohere/thinking-then-tools"
CITED: Final = "cohere.v2/cohere/citations"
ROUND: Final = "cohere.v2/cohere/tool-round"
NEXT: Final = "cohere.v2/cohere/next-turn"
SUITE: Final = "wire/cohere"

STARTED: Final = typed("message-start")
BEGUN: Final = typed("content-start")
PIECE: Final = typed("content-delta")
CLOSED: Final = typed("content-end")
CALLED: Final = typed("tool-call-start")
CALL_PIECE: Final = typed("tool-call-delta")
CALL_ENDED: Final = typed("tool-call-end")
ENDED: Final = typed("message-end")


def _as_object(arguments: Any) -> Any:
    return json.loads(arguments)


MUTANTS: Final = (
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [b": nobody is here\n\n"],)),
    # A gateway that translates Messages counts blocks and calls together.
    Mutant(
        f"{SUITE}/call-index-contiguous",
        TOOLS,
        tuple(
            edits.change_all(kind, "index", lambda index: index + 1)
            for kind in (CALLED, CALL_PIECE, CALL_ENDED)
        ),
    ),
    # An empty block of thinking follows the answer.
    Mutant(
        f"{SUITE}/thinking-before-text",
        TEXT,
        tuple(edits.insert(message(each), ENDED) for each in block(2, "thinking", ())),
        also=(f"{SUITE}/thinking-not-empty",),
    ),
    Mutant(
        "effort/cohere/disabled-means-none",
        CITED,
        (
            *(edits.change_all(kind, "index", 1) for kind in (BEGUN, PIECE, CLOSED)),
            *(
                edits.insert(message(e), STARTED, after=True)
                for e in block(0, "thinking", ())[::-1]
            ),
        ),
        also=(f"{SUITE}/thinking-not-empty",),
    ),
    Mutant(
        "history/cohere/text-as-said",
        NEXT,
        turns={2: asks("messages.1.content.1.text", lambda said: f"<think>{GLAZE}</think>{said}")},
    ),
    Mutant(
        "history/cohere/arguments-are-text",
        ROUND,
        turns={2: asks("messages.1.tool_calls.0.function.arguments", _as_object)},
    ),
)
