"""Mutants of the suites of Cohere's Chat."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.cohere import block, message
from tests.authoring.cohere_streams import GLAZE, GLAZE_TEXT
from tests.authoring.edits import done, having, typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE
from tests.authoring.turns import asks, asks_not, in_body, not_in_body

TEXT: Final = "cohere.v2/cohere/thinking-then-text"
TOOLS: Final = "cohere.v2/cohere/thinking-then-tools"
CITED: Final = "cohere.v2/cohere/citations"
BUDGET: Final = "cohere.v2/cohere/budget"
FAILED: Final = "cohere.v2/cohere/error-in-text"
ERROR: Final = "cohere.v2/cohere/error-in-answer"
BODY: Final = "cohere.v2/cohere/body"
BODY_CALL: Final = "cohere.v2/cohere/body-with-call"
ROUND: Final = "cohere.v2/cohere/tool-round"
SPOKEN_ROUND: Final = "cohere.v2/cohere/spoken-round"
NEXT: Final = "cohere.v2/cohere/next-turn"
LEFT_OUT: Final = "cohere.v2/never-sends-back/second-turn"
SUITE: Final = "wire/cohere"

STARTED: Final = typed("message-start")
BEGUN: Final = typed("content-start")
PIECE: Final = typed("content-delta")
CLOSED: Final = typed("content-end")
CALLED: Final = typed("tool-call-start")
CALL_PIECE: Final = typed("tool-call-delta")
CALL_ENDED: Final = typed("tool-call-end")
ENDED: Final = typed("message-end")
CONTENT: Final = "delta.message.content"
CALL: Final = "delta.message.tool_calls"
TOKENS: Final = "delta.usage.tokens"
SPOKEN: Final = having(f"{CONTENT}.text")
THOUGHT: Final = having(f"{CONTENT}.thinking")


def _as_object(arguments: Any) -> Any:
    return json.loads(arguments)


MUTANTS: Final = (
    # A list of parts, as other APIs have it.
    Mutant(
        f"{SUITE}/carries", TEXT, (edits.change(SPOKEN, f"{CONTENT}.text", lambda said: [said]),)
    ),
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [b": nobody is here\n\n"],)),
    Mutant(f"{SUITE}/event-typed", TEXT, (edits.remove(SPOKEN, "type"),)),
    Mutant(f"{SUITE}/event-name-agrees", TEXT, (edits.rename(SPOKEN, "message"),)),
    Mutant(f"{SUITE}/event-lines", TEXT, (edits.rename(SPOKEN, ""),)),
    Mutant(f"{SUITE}/start-first", TEXT, (edits.move(STARTED, by=1),)),
    # A gateway tried again and did not hold back what had come before.
    Mutant(f"{SUITE}/start-once", TEXT, (edits.duplicate(STARTED),)),
    Mutant(f"{SUITE}/start-fields", TEXT, (edits.remove(STARTED, "id"),)),
    Mutant(f"{SUITE}/index-known", TEXT, (edits.remove(THOUGHT, "index"),)),
    Mutant(f"{SUITE}/call-index-known", TOOLS, (edits.remove(CALL_PIECE, "index"),)),
    # The thinking was stripped, and the rest was not numbered anew.
    Mutant(
        f"{SUITE}/index-contiguous",
        TEXT,
        (
            edits.drop(BEGUN),
            edits.drop_all(THOUGHT),
            edits.drop(CLOSED),
        ),
    ),
    # A gateway that translates Messages counts blocks and calls together.
    Mutant(
        f"{SUITE}/call-index-contiguous",
        TOOLS,
        tuple(
            edits.change_all(kind, "index", lambda index: index + 1)
            for kind in (CALLED, CALL_PIECE, CALL_ENDED)
        ),
    ),
    Mutant(f"{SUITE}/block-lifecycle", TEXT, (edits.move(SPOKEN, -1, by=1),)),
    Mutant(f"{SUITE}/blocks-serial", TEXT, (edits.move(CLOSED, by=1),)),
    # The first words stand in the start, where nobody shows them.
    Mutant(f"{SUITE}/block-typed", TEXT, (edits.change(BEGUN, f"{CONTENT}.thinking", "A glaze"),)),
    Mutant(
        f"{SUITE}/thinking-in-thinking",
        TEXT,
        (edits.change(SPOKEN, CONTENT, {"thinking": "So it is sugar."}),),
    ),
    Mutant(
        f"{SUITE}/text-in-text",
        TEXT,
        (edits.change(THOUGHT, CONTENT, {"text": "Sugar and"}, -1),),
    ),
    # An empty block of thinking follows the answer.
    Mutant(
        f"{SUITE}/thinking-before-text",
        TEXT,
        tuple(edits.insert(message(each), ENDED) for each in block(2, "thinking", ())),
        also=(f"{SUITE}/thinking-not-empty",),
    ),
    # What translates the stream passes on what it knows.
    Mutant(f"{SUITE}/thinking-not-empty", TEXT, (edits.drop_all(THOUGHT),)),
    Mutant(
        f"{SUITE}/thinking-before-text",
        BODY,
        (in_body("message.content", lambda blocks: blocks[::-1]),),
        name=f"{SUITE}/thinking-before-text-in-body",
    ),
    Mutant(
        f"{SUITE}/content-is-object",
        TEXT,
        (edits.change(SPOKEN, CONTENT, lambda said: [said]),),
    ),
    Mutant(f"{SUITE}/call-lifecycle", TOOLS, (edits.drop(CALL_ENDED, -1),)),
    Mutant(
        f"{SUITE}/call-is-object",
        TOOLS,
        (edits.change(CALLED, CALL, lambda said: [said]),),
        also=(f"{SUITE}/carries",),
    ),
    Mutant(f"{SUITE}/call-named", TOOLS, (edits.remove(CALLED, f"{CALL}.id"),)),
    Mutant(f"{SUITE}/body-call-named", BODY_CALL, (not_in_body("message.tool_calls.0.id"),)),
    Mutant(f"{SUITE}/call-json", TOOLS, (edits.drop(CALL_PIECE),)),
    Mutant(f"{SUITE}/citation-pairs", CITED, (edits.drop(typed("citation-end")),)),
    Mutant(
        f"{SUITE}/end-present",
        TEXT,
        (edits.drop(ENDED), edits.drop(done)),
    ),
    Mutant(f"{SUITE}/end-once", TEXT, (edits.duplicate(ENDED),)),
    Mutant(
        f"{SUITE}/end-last",
        CITED,
        (edits.insert(message({"type": "debug", "prompt": "Hello"}), ENDED, after=True),),
    ),
    Mutant(f"{SUITE}/sentinel-present", TEXT, (edits.drop(done),)),
    Mutant(f"{SUITE}/sentinel-last", TEXT, (edits.insert(DONE, ENDED),)),
    Mutant(f"{SUITE}/reason-stated", TEXT, (edits.remove(ENDED, "delta.finish_reason"),)),
    # A gateway that translates Chat Completions left its word as it was.
    Mutant(f"{SUITE}/reason-known", TEXT, (edits.change(ENDED, "delta.finish_reason", "stop"),)),
    Mutant(
        f"{SUITE}/tools-end-the-turn",
        TOOLS,
        (edits.change(ENDED, "delta.finish_reason", "COMPLETE"),),
    ),
    Mutant(
        f"{SUITE}/tool-reason-has-call",
        TOOLS,
        tuple(edits.drop_all(kind) for kind in (CALLED, CALL_PIECE, CALL_ENDED)),
    ),
    Mutant(
        f"{SUITE}/answer-counted",
        CITED,
        (edits.remove(ENDED, "delta.usage"),),
    ),
    Mutant(f"{SUITE}/thinking-counted", TEXT, (edits.remove(ENDED, f"{TOKENS}.reasoning_tokens"),)),
    Mutant(
        f"{SUITE}/thinking-count-true",
        TEXT,
        (edits.change(ENDED, f"{TOKENS}.reasoning_tokens", 0),),
        also=(f"{SUITE}/thinking-counted",),
    ),
    Mutant(
        f"{SUITE}/thinking-within-output",
        TEXT,
        (edits.change(ENDED, f"{TOKENS}.reasoning_tokens", 42),),
    ),
    Mutant(f"{SUITE}/failure-says-why", FAILED, (edits.remove(ENDED, "delta.error"),)),
    # An error as another API has it.
    Mutant(
        f"{SUITE}/error-message",
        ERROR,
        (
            edits.change(having("message"), "error", {"message": "not there any more"}),
            edits.remove(having("error"), "message"),
        ),
    ),
    Mutant(f"{SUITE}/body-fields", BODY, (not_in_body("finish_reason"),)),
    Mutant(
        f"{SUITE}/body-content",
        BODY,
        (in_body("message.content.1.type", "output_text"),),
    ),
    Mutant(
        f"{SUITE}/body-counted",
        BODY,
        (not_in_body("usage.tokens.output_tokens"),),
    ),
    Mutant("effort/cohere/known", TEXT, turns={1: asks("thinking.type", "adaptive")}),
    Mutant("effort/cohere/budget-positive", BUDGET, turns={1: asks("thinking.token_budget", 0)}),
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
        "effort/cohere/budget-kept",
        BUDGET,
        turns={1: asks("thinking.token_budget", 4)},
    ),
    Mutant(
        "history/cohere/text-unchanged",
        ROUND,
        turns={2: asks("messages.1.content.0.thinking", lambda said: said.replace(" ", "  "))},
    ),
    # The answer was stored as thinking.
    Mutant(
        "history/cohere/turn-unchanged",
        NEXT,
        turns={2: asks("messages.1.content.0.thinking", GLAZE_TEXT)},
    ),
    Mutant(
        "history/cohere/text-as-said",
        NEXT,
        turns={2: asks("messages.1.content.1.text", lambda said: f"<think>{GLAZE}</think>{said}")},
    ),
    Mutant(
        "history/cohere/round-text-as-said",
        SPOKEN_ROUND,
        turns={2: asks("messages.1.content.1.text", lambda said: f"<think>Hm.</think>{said}")},
    ),
    Mutant(
        "history/cohere/never-sent",
        LEFT_OUT,
        turns={1: asks("messages.1.content.0", {"type": "thinking", "thinking": "Sugar."})},
    ),
    Mutant(
        "history/cohere/result-addressed",
        ROUND,
        turns={2: asks_not("messages.2.tool_call_id")},
    ),
    # The client makes ids of its own.
    Mutant(
        "history/cohere/result-asked",
        ROUND,
        turns={2: asks("messages.2.tool_call_id", "call-1")},
    ),
    Mutant(
        "history/cohere/arguments-are-text",
        ROUND,
        turns={2: asks("messages.1.tool_calls.0.function.arguments", _as_object)},
    ),
)
