"""Mutants of `wire/agui`: runs, messages, spans and what is sealed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.agui import RUN, event
from tests.authoring.edits import typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Fields, Message, Piece, at

TEXT: Final = "agui/agent/thinking-then-text"
SEALED: Final = "agui/agent/thinking-sealed"
EARLIER: Final = "agui/agent-0.1.10/thinking-then-text"
TOOLS: Final = "agui/agent/tool-and-snapshot"
FAILED: Final = "agui/agent/error-in-text"
SHARED: Final = "agui/agent/shared-state"
SUITE: Final = "wire/agui"

BEGUN: Final = typed("RUN_STARTED")
OVER: Final = typed("RUN_FINISHED")
ERROR: Final = typed("RUN_ERROR")
SPAN: Final = typed("REASONING_START")
SPAN_OVER: Final = typed("REASONING_END")
VALUE: Final = typed("REASONING_ENCRYPTED_VALUE")
SNAPSHOT: Final = typed("MESSAGES_SNAPSHOT")
STEP: Final = typed("STEP_STARTED")
STEP_OVER: Final = typed("STEP_FINISHED")
RESULT: Final = typed("TOOL_CALL_RESULT")
BOOKKEEPING: Final = json.dumps({"id": "reasoning_content", "provider_name": "openai"})
IN_CLEAR: Final = json.dumps({"id": "r1", "provider_details": {"raw_content": ["Clouds."]}})


UNAPPLIED: Final = {"op": "replace", "path": "/steps", "value": 2}


def _restated(edited: Callable[[Fields], Fields]) -> edits.Step:
    """The snapshot states the last message, the answer, in another way."""

    def step(pieces: edits.Pieces) -> list[Piece]:
        spot = edits.place(pieces, SNAPSHOT)
        snapshot = pieces[spot]
        assert isinstance(snapshot, Message)
        messages = at(snapshot.payload, "messages")
        changed = [*messages[:-1], edited(messages[-1])]
        return edits.change(SNAPSHOT, "messages", changed)(pieces)

    return step


def _text_around_reasoning(pieces: edits.Pieces) -> list[Piece]:
    """The text of the second step is opened before its reasoning."""
    opened, span = edits.place(pieces, typed("TEXT_MESSAGE_START")), edits.place(pieces, SPAN, 1)
    rest = [*pieces[:opened], *pieces[opened + 1 :]]
    return [*rest[:span], pieces[opened], *rest[span:]]


def _of(
    base: str,
    name: str,
    begins: str,
    goes_on: str,
    also: tuple[str, ...] = (),
    at_end: tuple[str, ...] = (),
) -> tuple[Mutant, ...]:
    """Mutants of the life of a message or a call; the words are those of its event types."""
    start, delta, end = typed(f"{begins}_START"), typed(goes_on), typed(f"{begins}_END")
    return (
        Mutant(f"{SUITE}/{name}-opened", base, (edits.drop(start),)),
        Mutant(f"{SUITE}/{name}-over", base, (edits.move(delta, -1, by=1),), also),
        # A start for every delta.
        Mutant(f"{SUITE}/{name}-open-once", base, (edits.duplicate(start),)),
        Mutant(f"{SUITE}/{name}-closed", base, (edits.drop(end),), at_end),
    )


MUTANTS: Final = (
    # The name of the event's class.
    Mutant(
        f"{SUITE}/carries",
        TEXT,
        (edits.change(typed("TEXT_MESSAGE_CONTENT"), "type", "TextMessageContent"),),
        (f"{SUITE}/type-known",),
    ),
    # What a framework adds, beside the protocol.
    Mutant(
        f"{SUITE}/type-known",
        TEXT,
        (edits.insert(Message(event("USAGE_METADATA", input_tokens=50)), OVER),),
    ),
    # The word of another API.
    Mutant(
        f"{SUITE}/text-role", TEXT, (edits.change(typed("TEXT_MESSAGE_START"), "role", "model"),)
    ),
    # Ended as Chat Completions end.
    Mutant(f"{SUITE}/no-sentinel", TEXT, (lambda pieces: [*pieces, DONE],)),
    Mutant(
        f"{SUITE}/answer-present",
        TEXT,
        (lambda _pieces: [Message(event("CUSTOM", name="state", value={}))],),
        (f"{SUITE}/run-first",),
    ),
    # What the model's library says is passed on before anything else.
    Mutant(
        f"{SUITE}/run-first",
        TEXT,
        (edits.insert(Message(event("RAW", event={"type": "on_chat_model_start"})), BEGUN),),
    ),
    # A proxy that retries sends the start again.
    Mutant(f"{SUITE}/run-once", TEXT, (edits.duplicate(BEGUN),)),
    Mutant(f"{SUITE}/run-ended", TEXT, (edits.drop(OVER),)),
    # A server that counts its answers.
    Mutant(f"{SUITE}/run-agrees", TEXT, (edits.change(OVER, "runId", "answer-1"),)),
    Mutant(f"{SUITE}/thread-agrees", TEXT, (edits.change(OVER, "threadId", "other"),)),
    Mutant(
        f"{SUITE}/event-typed",
        TEXT,
        (edits.insert(Message({"name": "state", "value": {}}), OVER),),
        (f"{SUITE}/type-known",),
    ),
    Mutant(f"{SUITE}/run-fields", TEXT, (edits.remove(SPAN_OVER, "messageId"),)),
    Mutant(f"{SUITE}/outcome-known", TEXT, (edits.change(OVER, "outcome.type", "stop"),)),
    Mutant(f"{SUITE}/sealed-owner", SEALED, (edits.change(VALUE, "entityId", "rs_01"),)),
    Mutant(
        f"{SUITE}/silent-after-run",
        TEXT,
        (edits.insert(Message(event("STATE_SNAPSHOT", snapshot={})), OVER, after=True),),
    ),
    Mutant(
        f"{SUITE}/nothing-after-error",
        FAILED,
        (edits.insert(Message(event("RUN_FINISHED", **RUN)), ERROR, after=True),),
    ),
    *_of(TEXT, "text", "TEXT_MESSAGE", "TEXT_MESSAGE_CONTENT"),
    *_of(TEXT, "reasoning", "REASONING_MESSAGE", "REASONING_MESSAGE_CONTENT"),
    *_of(
        TOOLS,
        "call",
        "TOOL_CALL",
        "TOOL_CALL_ARGS",
        (f"{SUITE}/call-json",),
    ),
    # The text stays open while the model thinks on.
    Mutant(f"{SUITE}/reasoning-apart-from-text", TOOLS, (_text_around_reasoning,)),
    # The result goes to the store of messages alone.
    Mutant(f"{SUITE}/call-answered", TOOLS, (edits.drop(RESULT),)),
    # A store that keeps what was said, and no results.
    Mutant(
        f"{SUITE}/snapshot-has-calls",
        TOOLS,
        (
            edits.change(
                SNAPSHOT,
                "messages",
                lambda all_of_them: [m for m in all_of_them if m["role"] != "tool"],
            ),
        ),
    ),
    Mutant(
        f"{SUITE}/snapshot-result-agrees",
        TOOLS,
        (edits.change(SNAPSHOT, "messages.3.content", "No ferry."),),
    ),
    Mutant(f"{SUITE}/result-after-call", TOOLS, (edits.move(RESULT, by=-1),)),
    Mutant(f"{SUITE}/span-opened", TEXT, (edits.drop(SPAN),)),
    Mutant(f"{SUITE}/span-open-once", TEXT, (edits.duplicate(SPAN),)),
    Mutant(f"{SUITE}/span-over", TEXT, (edits.duplicate(SPAN_OVER),)),
    Mutant(f"{SUITE}/span-closed", TEXT, (edits.drop(SPAN_OVER),)),
    # The model broke off, and what was open stays open.
    Mutant(
        f"{SUITE}/closed-at-error",
        FAILED,
        (edits.drop(typed("REASONING_MESSAGE_END")), edits.drop(SPAN_OVER)),
    ),
    Mutant(
        f"{SUITE}/thinking-lifecycle", EARLIER, (edits.drop(typed("THINKING_TEXT_MESSAGE_START")),)
    ),
    Mutant(f"{SUITE}/thinking-closed", EARLIER, (edits.drop(typed("THINKING_END")),)),
    # An adapter states the new protocol and writes the old one.
    Mutant(
        f"{SUITE}/current-names",
        TEXT,
        tuple(
            edits.insert(Message(event(kind)), SPAN) for kind in ("THINKING_START", "THINKING_END")
        ),
    ),
    Mutant(
        f"{SUITE}/event-fields", TEXT, (edits.change(typed("TEXT_MESSAGE_CONTENT"), "delta", None),)
    ),
    # The store of messages joins the answer with what it knew before.
    Mutant(
        f"{SUITE}/snapshot-adds-nothing",
        TOOLS,
        (_restated(lambda message: {**message, "content": f"{message['content']} And on."}),),
    ),
    Mutant(
        f"{SUITE}/snapshot-keeps-ids",
        TOOLS,
        (_restated(lambda message: {**message, "id": "stored-1"}),),
    ),
    # A change that was worked out against an older state, with a client that has a newer one.
    Mutant(
        f"{SUITE}/state-delta-applies",
        SHARED,
        (edits.change(typed("STATE_DELTA"), "delta", [UNAPPLIED]),),
    ),
    Mutant(
        f"{SUITE}/reasoning-role",
        TEXT,
        (edits.change(typed("REASONING_MESSAGE_START"), "role", "assistant"),),
    ),
    Mutant(f"{SUITE}/error-says-something", FAILED, (edits.change(ERROR, "message", " "),)),
    Mutant(f"{SUITE}/steps-known", TOOLS, (edits.drop(STEP),)),
    Mutant(f"{SUITE}/steps-over", TOOLS, (edits.duplicate(STEP_OVER),)),
    Mutant(f"{SUITE}/steps-open-once", TOOLS, (edits.duplicate(STEP),)),
    Mutant(f"{SUITE}/call-json", TOOLS, (edits.drop(typed("TOOL_CALL_ARGS"), -1),)),
    Mutant(f"{SUITE}/steps-finished", TOOLS, (edits.drop(STEP_OVER),)),
    Mutant(f"{SUITE}/sealed-value", SEALED, (edits.change(VALUE, "encryptedValue", ""),)),
    Mutant(
        f"{SUITE}/sealed-unreadable", SEALED, (edits.change(VALUE, "encryptedValue", IN_CLEAR),)
    ),
    Mutant(
        f"{SUITE}/sealed-says-something",
        SEALED,
        (edits.change(VALUE, "encryptedValue", BOOKKEEPING),),
    ),
    # The adapter keeps the reasoning of the last call alone.
    Mutant(
        f"{SUITE}/snapshot-has-thinking",
        TOOLS,
        (
            edits.change(
                SNAPSHOT,
                "messages",
                lambda all_of_them: [m for m in all_of_them if m["id"] != "r1"],
            ),
        ),
    ),
    Mutant(
        f"{SUITE}/snapshot-has-text", TOOLS, (edits.change(SNAPSHOT, "messages.5.content", "\n\n"),)
    ),
)
