"""Mutants of the suites of Mistral's chat."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Where, having
from tests.authoring.mistral import parts, thinking
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, at
from tests.authoring.turns import asks, asks_not, both, in_body, not_in_body

MARKED: Final = "mistral.chat/mistral/end-mark"
CLOSED: Final = "mistral.chat/mistral/closed"
PARTS: Final = "mistral.chat/mistral/all-parts"
BODY: Final = "mistral.chat/mistral/body"
ROUND: Final = "mistral.chat/mistral/tool-round"
LEFT_OUT: Final = "mistral.chat/never-sends-back/second-turn"
SUITE: Final = "wire/mistral"

CONTENT: Final = "choices.0.delta.content"
PART: Final = f"{CONTENT}.0"
FINISH: Final = "choices.0.finish_reason"
CALL: Final = "choices.0.delta.tool_calls.0"
TURN: Final = "messages.1"
THOUGHT: Final = having(f"{PART}.thinking")
FINISHED: Final = having(FINISH)


def _typed(kind: str) -> Where:
    return lambda sent: bool(at(sent.payload, f"{PART}.type") == kind)


def _ends_thinking(sent: Message) -> bool:
    return bool(at(sent.payload, f"{PART}.thinking") == [])


def _joined(pieces: Any) -> str:
    return "".join(piece["text"] for piece in pieces)


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/call-arguments",
        ROUND,
        (edits.remove(having("choices.0.delta.tool_calls"), f"{CALL}.function.arguments"),),
    ),
    # A gateway sends the parts of another API.
    Mutant(f"{SUITE}/part-typed", PARTS, (edits.remove(_typed("text"), f"{PART}.type"),)),
    Mutant(f"{SUITE}/text-is-text", PARTS, (edits.change(_typed("text"), f"{PART}.text", None),)),
    Mutant(
        f"{SUITE}/thinking-in-parts",
        MARKED,
        (edits.change(THOUGHT, f"{PART}.thinking", _joined),),
    ),
    # The word of another API.
    Mutant(f"{SUITE}/part-known", MARKED, (edits.change(THOUGHT, f"{PART}.type", "reasoning"),)),
    Mutant(
        f"{SUITE}/part-known",
        MARKED,
        (edits.change(THOUGHT, f"{PART}.thinking.0.type", "output_text"),),
        name=f"{SUITE}/part-known-within",
    ),
    Mutant(f"{SUITE}/body-fields", BODY, (not_in_body("created"),)),
    Mutant(
        "wire/chat/choice-once",
        MARKED,
        (edits.change(THOUGHT, "choices", lambda one: [*one, *one]),),
        name="wire/chat/choice-once-of-mistral",
    ),
    Mutant(
        f"{SUITE}/total-is-sum",
        MARKED,
        (edits.change(FINISHED, "usage.total_tokens", 1),),
    ),
    Mutant(
        f"{SUITE}/body-thinking-first",
        BODY,
        (in_body("choices.0.message.content", lambda content: content[::-1]),),
    ),
    Mutant(
        f"{SUITE}/thinking-elsewhere",
        MARKED,
        (edits.change(THOUGHT, "choices.0.delta", {"content": "", "reasoning_content": "High"}),),
    ),
    Mutant(
        f"{SUITE}/end-mark-last",
        MARKED,
        (edits.insert(parts(thinking("So it is.")), _ends_thinking, after=True),),
    ),
    Mutant(
        f"{SUITE}/not-left-open",
        PARTS,
        (edits.change(THOUGHT, f"{PART}.closed", False, -1),),
    ),
    Mutant(f"{SUITE}/finish-reason-known", MARKED, (edits.change(FINISHED, FINISH, "eos"),)),
    Mutant(f"{SUITE}/calls-not-stopped", ROUND, (edits.change(FINISHED, FINISH, "stop"),)),
    Mutant(f"{SUITE}/usage-with-finish", MARKED, (edits.remove(FINISHED, "usage"),)),
    Mutant(f"{SUITE}/body-counted", BODY, (not_in_body("usage"),)),
    Mutant(
        f"{SUITE}/call-id-form",
        ROUND,
        (edits.change(having(CALL), f"{CALL}.id", "call_0f7d21"),),
    ),
    Mutant("effort/mistral/mode-known", MARKED, turns={1: asks("prompt_mode", "thinking")}),
    Mutant(
        "effort/mistral/own-fields",
        CLOSED,
        turns={1: asks("stream_options", {"include_usage": True})},
    ),
    # Sent back as other servers want it.
    Mutant(
        "history/mistral/own-fields",
        ROUND,
        turns={2: asks(f"{TURN}.reasoning_content", "The timetable knows.")},
    ),
    Mutant(
        "history/mistral/thinking-kept",
        ROUND,
        turns={2: asks(f"{TURN}.content.0.thinking.0.text", "The timetable")},
    ),
    Mutant(
        "history/mistral/signature-unchanged",
        ROUND,
        turns={2: asks_not(f"{TURN}.content.0.signature")},
    ),
    Mutant(
        "history/mistral/part-known",
        ROUND,
        turns={
            2: asks(
                f"{TURN}.content",
                lambda content: [*content, {"type": "reasoning", "text": "So it is."}],
            )
        },
    ),
    Mutant(
        "history/mistral/call-id-form",
        ROUND,
        turns={
            2: both(
                asks(f"{TURN}.tool_calls.0.id", "call_0f7d21"),
                asks("messages.2.tool_call_id", "call_0f7d21"),
            )
        },
    ),
    Mutant(
        "history/mistral/never-sent",
        LEFT_OUT,
        turns={
            1: asks(
                f"{TURN}.content",
                lambda text: [thinking("High water.", closed=True), {"type": "text", "text": text}],
            )
        },
    ),
)
