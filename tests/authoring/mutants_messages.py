"""Mutants of `wire/messages`: the life of a message."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, Where, typed
from tests.authoring.messages import PING, answer, opening, text, thinking
from tests.authoring.messages_streams import BREAD, BREAD_TEXT
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Fields, Message, Piece, at, compact, cut, put
from tests.authoring.turns import asks

TEXT: Final = "anthropic.messages/anthropic/thinking-then-text"
UNCOUNTED: Final = "anthropic.messages/anthropic/text-before-thinking"
TOOLS: Final = "anthropic.messages/anthropic/thinking-then-tools"
FAILED: Final = "anthropic.messages/anthropic/error-in-text"
BODY: Final = "anthropic.messages/anthropic/body"
SUITE: Final = "wire/messages"

STARTED: Final = typed("message_start")
ENDING: Final = typed("message_delta")
STOPPED: Final = typed("message_stop")
ERROR: Final = typed("error")
CLOSED: Final = typed("content_block_stop")
REASON: Final = "delta.stop_reason"
THOUGHT: Final = "usage.output_tokens_details.thinking_tokens"


def said(kind: str) -> Where:
    """Deltas of a type."""
    return lambda message: at(message.payload, "delta.type") == f"{kind}_delta"


def begun(kind: str) -> Where:
    """Starts of blocks of a type."""
    return lambda message: at(message.payload, "content_block.type") == kind


def _in_body(edited: Callable[[Fields], Fields]) -> Step:
    """The same edit for a message in one piece."""

    def step(pieces: Pieces) -> list[Piece]:
        (body,) = pieces
        assert isinstance(body, bytes)
        return [compact(edited(json.loads(body))).encode()]

    return step


MUTANTS: Final = (
    Mutant(f"{SUITE}/event-typed", TEXT, (edits.remove(said("text"), "type"),)),
    Mutant(f"{SUITE}/event-name-agrees", TEXT, (edits.rename(said("text"), "message"),)),
    Mutant(f"{SUITE}/event-lines", TEXT, (edits.rename(said("text"), ""),)),
    Mutant(f"{SUITE}/start-first", TEXT, (edits.move(STARTED, by=1),)),
    # A gateway tried again and did not hold back what had come before.
    Mutant(
        f"{SUITE}/start-once",
        TEXT,
        (edits.insert(Message(opening(15), "message_start"), STARTED, after=True),),
    ),
    Mutant(f"{SUITE}/start-fields", TEXT, (edits.change(STARTED, "message.type", "chat"),)),
    Mutant(
        f"{SUITE}/start-fields",
        TEXT,
        (edits.change(STARTED, "message.usage", {"output_tokens": 1}),),
        name=f"{SUITE}/start-fields-usage",
    ),
    Mutant(
        f"{SUITE}/start-empty",
        TEXT,
        (edits.change(STARTED, "message.content", [{"type": "text", "text": ""}]),),
    ),
    Mutant(
        f"{SUITE}/start-unfinished",
        TEXT,
        (edits.change(STARTED, "message.stop_reason", "end_turn"),),
    ),
    Mutant(f"{SUITE}/blocks-before-delta", TEXT, (edits.move(ENDING, by=-1),)),
    Mutant(f"{SUITE}/delta-present", TEXT, (edits.drop(ENDING),)),
    Mutant(f"{SUITE}/stop-reason", TEXT, (edits.change(ENDING, REASON, None),)),
    # A gateway that translates Chat Completions left its word as it was.
    Mutant(f"{SUITE}/stop-reason-known", TEXT, (edits.change(ENDING, REASON, "stop"),)),
    # The counts of a second upstream stream.
    Mutant(
        f"{SUITE}/counts-never-fall",
        TEXT,
        (edits.change(STARTED, "message.usage.output_tokens", 400),),
    ),
    Mutant(
        f"{SUITE}/usage-counted",
        UNCOUNTED,
        (edits.remove(ENDING, "usage.output_tokens"),),
    ),
    Mutant(
        f"{SUITE}/thinking-counted",
        "anthropic.messages/reference/thinking-counted",
        (edits.remove(ENDING, "usage.output_tokens_details"),),
    ),
    Mutant(f"{SUITE}/thinking-count-true", TEXT, (edits.change(ENDING, THOUGHT, 0),)),
    Mutant(f"{SUITE}/within-limit", TEXT, (edits.change(ENDING, "usage.output_tokens", 2049),)),
    Mutant(f"{SUITE}/thinking-within-output", TEXT, (edits.change(ENDING, THOUGHT, 144),)),
    Mutant(f"{SUITE}/tools-end-the-turn", TOOLS, (edits.change(ENDING, REASON, "end_turn"),)),
    # The calls were lost on the way.
    Mutant(
        f"{SUITE}/tool-stop-has-tool",
        TOOLS,
        (
            edits.drop_all(begun("tool_use")),
            edits.drop_all(said("input_json")),
            edits.drop(CLOSED, -1),
            edits.drop(CLOSED, -1),
        ),
    ),
    Mutant(
        f"{SUITE}/answer-present", TEXT, (edits.drop_all(lambda message: message.event != "ping"),)
    ),
    Mutant(f"{SUITE}/stop-present", TEXT, (edits.drop(STOPPED),)),
    Mutant(f"{SUITE}/stop-once", TEXT, (edits.duplicate(STOPPED),)),
    Mutant(
        f"{SUITE}/stop-last",
        TEXT,
        (edits.insert(Message(PING, "ping"), STOPPED, after=True),),
    ),
    Mutant(f"{SUITE}/no-sentinel", TEXT, (edits.insert(DONE, STOPPED, after=True),)),
    Mutant(f"{SUITE}/ping-bare", TEXT, (edits.change(typed("ping"), "index", 0),)),
    Mutant(
        "effort/messages/known",
        "anthropic.messages/anthropic/effort-named",
        turns={1: asks("output_config.effort", "none")},
    ),
    Mutant(
        "effort/messages/tool-not-forced",
        "anthropic.messages/anthropic/budget-and-tools",
        turns={1: asks("tool_choice.type", "any")},
    ),
    Mutant(
        "effort/messages/disabled-means-none",
        "anthropic.messages/anthropic/thinking-off",
        (lambda _pieces: list(answer([thinking(0, BREAD), text(1, BREAD_TEXT)], (15, 44, 27))),),
    ),
    Mutant(
        "effort/messages/omitted-is-silent",
        "anthropic.messages/anthropic/display-omitted",
        (edits.change(said("thinking"), "delta.thinking", "Twenty times three, less three."),),
    ),
    Mutant(f"{SUITE}/error-fields", FAILED, (edits.remove(ERROR, "error.type"),)),
    # The stream goes on as if nothing had happened.
    Mutant(
        f"{SUITE}/error-last",
        FAILED,
        (edits.move(ERROR, by=-1),),
    ),
    Mutant(
        "wire/messages-blocks/body-thinking-before-text",
        BODY,
        (_in_body(lambda body: put(body, "content", body["content"][::-1])),),
    ),
    Mutant(f"{SUITE}/body-fields", BODY, (_in_body(lambda body: cut(body, "stop_reason")),)),
    Mutant(
        f"{SUITE}/body-thinking-signed",
        BODY,
        (_in_body(lambda body: cut(body, "content.0.signature")),),
    ),
)
