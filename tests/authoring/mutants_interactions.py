"""Mutants of the suites of the Interactions API."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Where
from tests.authoring.interactions import message, updated
from tests.authoring.interactions_streams import KILN
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, at
from tests.authoring.turns import asks, in_body

TEXT: Final = "gemini.interactions/gemini/thought-then-text"
SILENT: Final = "gemini.interactions/gemini/no-summary"
BODY_CALL: Final = "gemini.interactions/gemini/body-with-call"
ROUND: Final = "gemini.interactions/gemini/tool-round"
NEXT: Final = "gemini.interactions/gemini/next-turn"
LEFT_OUT: Final = "gemini.interactions/never-sends-back/second-turn"
SUITE: Final = "wire/interactions"
STEPS: Final = "wire/interactions-steps"


def typed(kind: str, delta: str = "") -> Where:
    """Events of a type, and if named only deltas of a type."""

    def where(sent: Message) -> bool:
        is_typed = at(sent.payload, "event_type") == kind
        return is_typed and (not delta or at(sent.payload, "delta.type") == delta)

    return where


COMPLETED: Final = typed("interaction.completed")
SIGNED: Final = typed("step.delta", "thought_signature")


TOLD: Final = {
    "event_type": "step.delta",
    "index": 0,
    "delta": {"type": "thought_summary", "content": {"type": "text", "text": "It is pink."}},
}


def _at_step(index: int, path: str) -> str:
    return f"steps.{index}.{path}"


def _as_text(arguments: Any) -> str:
    return json.dumps(arguments)


def _misnamed(result: Any) -> dict[str, Any]:
    """The call is named as other APIs name it."""
    return {"type": result["type"], "tool_call_id": result["call_id"], "result": result["result"]}


MUTANTS: Final = (
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [b": nobody is here\n\n"],)),
    Mutant(
        f"{SUITE}/end-last",
        TEXT,
        (edits.insert(message(updated("completed")), COMPLETED, after=True),),
    ),
    Mutant(f"{STEPS}/body-call", BODY_CALL, (in_body(_at_step(1, "arguments"), _as_text),)),
    Mutant(
        "effort/interactions/none-means-none",
        SILENT,
        (edits.insert(message(TOLD), SIGNED),),
    ),
    Mutant(
        "history/interactions/text-as-said",
        NEXT,
        turns={2: asks("input.2.content.0.text", lambda said: f"<think>{KILN[0]}</think>{said}")},
    ),
    Mutant(
        "history/interactions/result-named",
        ROUND,
        turns={2: asks("input.3", _misnamed)},
    ),
    Mutant(
        "history/interactions/arguments-are-object",
        ROUND,
        turns={2: asks("input.2.arguments", _as_text)},
    ),
    Mutant(
        "history/interactions/never-sent",
        LEFT_OUT,
        turns={
            1: asks(
                "input", lambda said: [said[0], {"type": "thought", "signature": "c2ln"}, *said[1:]]
            )
        },
    ),
)
