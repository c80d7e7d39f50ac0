"""Mutants of the suites of the Interactions API."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Where, done, having
from tests.authoring.interactions import DONE, message, updated
from tests.authoring.interactions_streams import KILN, KILN_TEXT
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, at, opaque
from tests.authoring.turns import asks, in_body, not_in_body

TEXT: Final = "gemini.interactions/gemini/thought-then-text"
SILENT: Final = "gemini.interactions/gemini/no-summary"
CALLS: Final = "gemini.interactions/gemini/thought-then-calls"
CODE: Final = "gemini.interactions/gemini/code-between-thoughts"
ERROR: Final = "gemini.interactions/gemini/error-in-text"
BODY: Final = "gemini.interactions/gemini/body"
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


CREATED: Final = typed("interaction.created")
COMPLETED: Final = typed("interaction.completed")
STARTED: Final = typed("step.start")
STOPPED: Final = typed("step.stop")
SUMMARY: Final = typed("step.delta", "thought_summary")
SIGNED: Final = typed("step.delta", "thought_signature")
SAID: Final = typed("step.delta", "text")
GIVEN: Final = typed("step.delta", "arguments_delta")
FAILED: Final = typed("error")
CALLED: Final = having("step.name")
OF_CALLS: Final = having("index")  # every step but the first
STATUS: Final = "interaction.status"
USAGE: Final = "interaction.usage"


TOLD: Final = {
    "event_type": "step.delta",
    "index": 0,
    "delta": {"type": "thought_summary", "content": {"type": "text", "text": "It is pink."}},
}


def _at_step(index: int, path: str) -> str:
    return f"steps.{index}.{path}"


def _as_text(arguments: Any) -> str:
    return json.dumps(arguments)


def _later(steps: Any) -> list[Any]:
    """The thought stands behind the call that it led to."""
    asked, thinking, call, result = steps
    return [asked, call, thinking, result]


def _misnamed(result: Any) -> dict[str, Any]:
    """The call is named as other APIs name it."""
    return {"type": result["type"], "tool_call_id": result["call_id"], "result": result["result"]}


MUTANTS: Final = (
    # The word of another API.
    Mutant(
        f"{STEPS}/summary-known",
        TEXT,
        (edits.change(SUMMARY, "delta.content.type", "summary_text"),),
    ),
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [b": nobody is here\n\n"],)),
    Mutant(f"{SUITE}/event-name-agrees", TEXT, (edits.rename(SAID, "message"),)),
    Mutant(f"{SUITE}/event-lines", TEXT, (edits.rename(SAID, ""),)),
    Mutant(f"{SUITE}/created-first", TEXT, (edits.move(CREATED, by=1),)),
    # A gateway tried again and did not hold back what had come before.
    Mutant(f"{SUITE}/created-once", TEXT, (edits.duplicate(CREATED),)),
    Mutant(f"{SUITE}/created-fields", TEXT, (edits.remove(CREATED, "interaction.id"),)),
    Mutant(f"{SUITE}/same-id", TEXT, (edits.change(COMPLETED, "interaction.id", "v1_other"),)),
    Mutant(f"{SUITE}/status-known", TEXT, (edits.change(COMPLETED, STATUS, "stop"),)),
    Mutant(f"{SUITE}/end-present", TEXT, (edits.drop(COMPLETED), edits.drop(done))),
    Mutant(f"{SUITE}/end-once", TEXT, (edits.duplicate(COMPLETED),)),
    Mutant(
        f"{SUITE}/end-last",
        TEXT,
        (edits.insert(message(updated("completed")), COMPLETED, after=True),),
    ),
    Mutant(f"{SUITE}/sentinel-present", TEXT, (edits.drop(done),)),
    Mutant(f"{SUITE}/sentinel-last", TEXT, (edits.insert(DONE, COMPLETED),)),
    Mutant(f"{SUITE}/end-status", TEXT, (edits.remove(COMPLETED, STATUS),)),
    Mutant(f"{SUITE}/end-not-running", TEXT, (edits.change(COMPLETED, STATUS, "in_progress"),)),
    Mutant(f"{SUITE}/call-requires-action", CALLS, (edits.change(COMPLETED, STATUS, "completed"),)),
    # The calls were lost on the way.
    Mutant(f"{SUITE}/action-has-call", CALLS, (edits.drop_all(OF_CALLS),)),
    Mutant(f"{SUITE}/answer-counted", TEXT, (edits.remove(COMPLETED, f"{USAGE}.total_tokens"),)),
    Mutant(
        f"{SUITE}/total-is-sum",
        TEXT,
        (edits.change(COMPLETED, f"{USAGE}.total_tokens", lambda total: total - 41),),
    ),
    # A gateway that knows two counts only.
    Mutant(
        f"{SUITE}/thoughts-counted",
        TEXT,
        (
            edits.remove(COMPLETED, f"{USAGE}.total_thought_tokens"),
            edits.change(COMPLETED, f"{USAGE}.total_tokens", lambda total: total - 41),
        ),
    ),
    Mutant(f"{SUITE}/error-message", ERROR, (edits.remove(FAILED, "error.message"),)),
    Mutant(
        f"{SUITE}/nothing-after-error",
        ERROR,
        (
            edits.insert(
                Message({"event_type": "step.stop", "index": 1}, "step.stop"), FAILED, after=True
            ),
        ),
    ),
    Mutant(f"{SUITE}/body-fields", BODY, (not_in_body("status"),)),
    Mutant(f"{SUITE}/body-counted", BODY, (not_in_body("usage.total_tokens"),)),
    Mutant(f"{STEPS}/index-known", TEXT, (edits.remove(SUMMARY, "index"),)),
    # The first thought was stripped, and the rest was not numbered anew.
    Mutant(
        f"{STEPS}/index-contiguous",
        TEXT,
        (edits.drop(STARTED), edits.drop_all(SUMMARY), edits.drop(SIGNED), edits.drop(STOPPED)),
    ),
    Mutant(f"{STEPS}/thought-present", BODY_CALL, (in_body("steps", lambda steps: steps[1:]),)),
    Mutant(f"{STEPS}/whole-thought-first", BODY, (in_body("steps", lambda steps: steps[::-1]),)),
    Mutant(f"{STEPS}/step-lifecycle", TEXT, (edits.drop(STOPPED, -1),)),
    Mutant(f"{STEPS}/steps-serial", TEXT, (edits.move(STOPPED, by=1),)),
    Mutant(f"{STEPS}/step-opened", CODE, (edits.remove(STARTED, "step.type", 2),)),
    Mutant(
        f"{STEPS}/delta-typed",
        TEXT,
        (edits.change(SAID, "delta", {"type": "text", "content": {"text": "Fire"}}),),
    ),
    # What was thought comes where answers are.
    Mutant(
        f"{STEPS}/summary-in-thought",
        TEXT,
        (
            edits.change(
                SAID,
                "delta",
                {"type": "thought_summary", "content": {"type": "text", "text": "So it is."}},
            ),
        ),
    ),
    Mutant(
        f"{STEPS}/text-in-output",
        TEXT,
        (edits.change(SUMMARY, "delta", {"type": "text", "text": "So it is."}, -1),),
    ),
    Mutant(
        f"{STEPS}/arguments-in-call",
        CALLS,
        (edits.change(SUMMARY, "delta", {"type": "arguments_delta", "arguments": "{}"}),),
    ),
    Mutant(f"{STEPS}/signature-present", SILENT, (edits.drop(SIGNED),)),
    Mutant(f"{STEPS}/signature-last", TEXT, (edits.move(SIGNED, by=-1),)),
    Mutant(f"{STEPS}/signature-once", TEXT, (edits.duplicate(SIGNED),)),
    Mutant(f"{STEPS}/body-signature", BODY, (not_in_body(_at_step(0, "signature")),)),
    Mutant(f"{STEPS}/call-named", CALLS, (edits.remove(CALLED, "step.id"),)),
    Mutant(f"{STEPS}/call-json", CALLS, (edits.drop(GIVEN),)),
    Mutant(f"{STEPS}/body-call", BODY_CALL, (in_body(_at_step(1, "arguments"), _as_text),)),
    Mutant(f"{STEPS}/body-step-typed", BODY, (not_in_body(_at_step(1, "content")),)),
    # Of two signatures the second one shows.
    Mutant(
        "stripping/visible-text/no-opaque-data",
        CODE,
        (edits.change(SAID, "delta.text", f"{opaque('sum again')} The "),),
        name="stripping/visible-text/no-opaque-data-of-two",
    ),
    Mutant(
        "effort/interactions/level-known",
        TEXT,
        turns={1: asks("generation_config.thinking_level", "xhigh")},
    ),
    Mutant(
        "effort/interactions/summaries-known",
        TEXT,
        turns={1: asks("generation_config.thinking_summaries", "detailed")},
    ),
    Mutant(
        "effort/interactions/none-means-none",
        SILENT,
        (edits.insert(message(TOLD), SIGNED),),
    ),
    # The signature was kept with the call, which has an empty one.
    Mutant(
        "history/interactions/signed-unchanged",
        ROUND,
        turns={2: asks("input.1.signature", "")},
    ),
    # The answer was stored as a thought; another one leaves the thoughts' type out.
    Mutant(
        "history/interactions/turn-unchanged",
        NEXT,
        turns={2: asks("input.1.summary.1.text", KILN_TEXT)},
    ),
    Mutant(
        "history/interactions/text-as-said",
        NEXT,
        turns={2: asks("input.2.content.0.text", lambda said: f"<think>{KILN[0]}</think>{said}")},
    ),
    # The store of a client cuts long texts.
    Mutant(
        "history/interactions/summary-unchanged",
        ROUND,
        turns={2: asks("input.1.summary.0.text", lambda said: said[:40])},
    ),
    Mutant("history/interactions/thought-before-call", ROUND, turns={2: asks("input", _later)}),
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
