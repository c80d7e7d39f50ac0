"""Mutants of `wire/ui-message`: starts, ends, ids, steps and the end of a UI message."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, Where, done, typed
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Message, Piece
from tests.authoring.ui_message import part

TEXT: Final = "vercel.ui/ai-sdk/thinking-then-text"
PARTS: Final = "vercel.ui/ai-sdk/summary-two-parts"
TOOLS: Final = "vercel.ui/ai-sdk/tool-in-two-steps"
FAILED: Final = "vercel.ui/ai-sdk/error-behind-thinking"
STATED: Final = "vercel.ui/pydantic-ai/thinking-in-metadata-too"
STOPPED: Final = "vercel.ui/ai-sdk/abort-behind-thinking"
COUNTED: Final = "vercel.ui/ai-sdk/ids-of-each-step"
APPROVED: Final = "vercel.ui/ai-sdk/call-approved"
SUITE: Final = "wire/ui-message"
APPROVAL: Final = {"approvalId": "approval-1", "toolCallId": "call_0"}

CAUGHT: Final = (
    '{"message":"refused","stack":"Error: refused\\n    at post (/srv/chat/index.js:10:2)"}'
)

START: Final = typed("start")
THOUGHT: Final = typed("reasoning-delta")
THINKING: Final = typed("reasoning-start")
THOUGHT_OVER: Final = typed("reasoning-end")
SPOKEN: Final = typed("text-delta")
SPEAKING: Final = typed("text-start")
SPOKEN_OVER: Final = typed("text-end")
CALLING: Final = typed("tool-input-start")
ARGUMENT: Final = typed("tool-input-delta")
CALLED: Final = typed("tool-input-available")
ANSWERED: Final = typed("tool-output-available")
STEP: Final = typed("start-step")
STEP_OVER: Final = typed("finish-step")
FINISH: Final = typed("finish")
OF_THINKING: Final = (THINKING, THOUGHT, THOUGHT_OVER)


def _end(kind: str, part_id: str) -> Message:
    return Message(part(f"{kind}-end", id=part_id))


def _text(part_id: str, said: str) -> tuple[Message, ...]:
    """A whole part of text, in one delta; without any where it says nothing."""
    delta = (Message(part("text-delta", id=part_id, delta=said)),) if said else ()
    return (Message(part("text-start", id=part_id)), *delta, _end("text", part_id))


def _again(part_id: str) -> tuple[Message, ...]:
    """A thought under an id that another one had."""
    begun = Message(part("reasoning-start", id=part_id))
    said = Message(part("reasoning-delta", id=part_id, delta="Or by bus."))
    return begun, said, _end("reasoning", part_id)


def _before(where: Where, *new: Message) -> tuple[Step, ...]:
    """Pieces before another, in this order."""
    return tuple(edits.insert(each, where) for each in new)


def _text_around_thinking(pieces: Pieces) -> list[Piece]:
    """The start of the text comes before the thinking."""
    first = edits.place(pieces, THINKING)
    opened = edits.place(pieces, SPEAKING)
    rest = [*pieces[:opened], *pieces[opened + 1 :]]
    return [*rest[:first], pieces[opened], *rest[first:]]


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/answer-present",
        TEXT,
        (lambda _pieces: [Message(part("data-state", data={})), DONE],),
        also=(f"{SUITE}/finish-present",),
    ),
    # A chunk of the model's stream is passed on as it is.
    Mutant(
        f"{SUITE}/part-known",
        TEXT,
        (edits.insert(Message({"type": "reasoning", "text": "Weld."}), THOUGHT),),
    ),
    # The server was updated before the client.
    Mutant(
        f"{SUITE}/part-known-to-6",
        APPROVED,
        (edits.insert(Message(part("custom", kind="provider.message_start")), THINKING),),
    ),
    Mutant(
        f"{SUITE}/part-known-to-5",
        COUNTED,
        (edits.insert(Message(part("tool-approval-request", **APPROVAL)), CALLED, after=True),),
    ),
    Mutant(
        f"{SUITE}/text-id-unique-in-step",
        COUNTED,
        tuple(edits.insert(each, STEP_OVER, 1) for each in _text("txt-0", " Or by bus.")),
    ),
    Mutant(
        f"{SUITE}/reasoning-id-unique-in-step",
        COUNTED,
        _before(SPEAKING, *_again("reasoning-0")),
    ),
    Mutant(f"{SUITE}/header", TEXT, facts={"answer_headers": ()}),
    Mutant(f"{SUITE}/text-fields", TEXT, (edits.change(SPOKEN, "delta", None),)),
    Mutant(f"{SUITE}/call-fields", TOOLS, (edits.remove(CALLED, "toolName"),)),
    Mutant(
        f"{SUITE}/call-fields",
        TOOLS,
        (edits.change(CALLED, "providerExecuted", None),),
        name=f"{SUITE}/call-fields-null",
    ),
    # Two streams of the SDK are joined, and each has its start.
    Mutant(f"{SUITE}/start-once", TOOLS, (edits.insert(Message(part("start")), STEP, 1),)),
    Mutant(f"{SUITE}/start-first", TEXT, (edits.move(START, by=1),)),
    # The first thought opened no part.
    Mutant(f"{SUITE}/reasoning-announced", TEXT, (edits.drop(THINKING),)),
    Mutant(f"{SUITE}/reasoning-over", TEXT, (edits.move(THOUGHT, -1, by=1),)),
    # The model broke off, and what was open stays open.
    Mutant(f"{SUITE}/reasoning-ended", FAILED, (edits.drop(THOUGHT_OVER),)),
    Mutant(
        f"{SUITE}/reasoning-ended",
        STOPPED,
        (edits.drop(THOUGHT_OVER),),
        name=f"{SUITE}/reasoning-ended-at-abort",
    ),
    # Ids are counted anew in every step.
    Mutant(
        f"{SUITE}/reasoning-id-unique",
        TOOLS,
        tuple(edits.change_all(each, "id", "reasoning-0") for each in OF_THINKING),
    ),
    Mutant(f"{SUITE}/text-announced", TEXT, (edits.drop(SPEAKING),)),
    Mutant(f"{SUITE}/text-over", TEXT, (edits.move(SPOKEN, -1, by=1),)),
    Mutant(f"{SUITE}/text-ended", TEXT, (edits.drop(SPOKEN_OVER),)),
    Mutant(f"{SUITE}/text-id-unique", TEXT, _before(STEP_OVER, *_text("txt-0", " Or onions."))),
    # Ends are sent when the step is over.
    Mutant(
        f"{SUITE}/reasoning-ended-in-time",
        TEXT,
        (edits.drop(THOUGHT_OVER), *_before(STEP_OVER, _end("reasoning", "reasoning-0"))),
    ),
    Mutant(f"{SUITE}/reasoning-apart-from-text", PARTS, (_text_around_thinking,)),
    Mutant(
        f"{SUITE}/reasoning-serial",
        PARTS,
        (
            edits.drop(THOUGHT_OVER),
            edits.insert(_end("reasoning", "rs_1:0"), THINKING, 1, after=True),
        ),
    ),
    # Thinking is switched off, and its starts and ends were forgotten.
    Mutant(f"{SUITE}/reasoning-says-something", TEXT, (edits.drop_all(THOUGHT),)),
    Mutant(f"{SUITE}/text-says-something", TEXT, _before(STEP_OVER, *_text("txt-1", ""))),
    Mutant(f"{SUITE}/thinking-in-deltas", STATED, (edits.drop_all(THOUGHT),)),
    Mutant(f"{SUITE}/error-said", FAILED, (edits.remove(typed("error"), "errorText"),)),
    Mutant(f"{SUITE}/call-lifecycle", TOOLS, (edits.duplicate(CALLING),)),
    Mutant(f"{SUITE}/call-name-agrees", TOOLS, (edits.change(CALLED, "toolName", "other"),)),
    Mutant(f"{SUITE}/output-of-call", TOOLS, (edits.change(ANSWERED, "toolCallId", "call-9"),)),
    Mutant(f"{SUITE}/input-complete", TOOLS, (edits.drop(CALLED),)),
    Mutant(f"{SUITE}/input-json", TOOLS, (edits.drop(ARGUMENT, -1),)),
    # It failed before the model had begun.
    Mutant(f"{SUITE}/steps-in-order", FAILED, (edits.drop(STEP),)),
    # Thinking that was kept back until the model had finished.
    Mutant(
        f"{SUITE}/parts-in-step",
        TEXT,
        tuple(edits.insert(each, STEP_OVER, after=True) for each in reversed(_again("late"))),
    ),
    # The exception is written into the text as it was caught.
    Mutant(
        "stripping/shown-errors/no-internals",
        FAILED,
        (edits.change(typed("error"), "errorText", CAUGHT),),
    ),
    Mutant(f"{SUITE}/step-between-parts", TEXT, (edits.move(STEP, by=1),)),
    Mutant(f"{SUITE}/step-finished", TEXT, (edits.drop(STEP_OVER),)),
    Mutant(f"{SUITE}/finish-present", FAILED, (edits.drop(FINISH),)),
    Mutant(f"{SUITE}/finish-after-step", APPROVED, (edits.drop(FINISH),)),
    Mutant(
        f"{SUITE}/finish-last",
        TEXT,
        (edits.move(STEP_OVER, by=1),),
        also=(f"{SUITE}/step-finished",),
    ),
    Mutant(f"{SUITE}/reason-known", TEXT, (edits.change(FINISH, "finishReason", "end_turn"),)),
    Mutant(f"{SUITE}/reason-stated", TEXT, (edits.change(FINISH, "finishReason", "unknown"),)),
    Mutant(f"{SUITE}/failure-told", FAILED, (edits.change(FINISH, "finishReason", "stop"),)),
    Mutant(f"{SUITE}/done-present", TEXT, (edits.drop(done),)),
    Mutant(f"{SUITE}/done-last", TEXT, (edits.duplicate(done),)),
)
