"""Mutants of `hop`: what an application loses, doubles, delays or covers up of its provider's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tests.authoring import edits, ollama
from tests.authoring.agui import snapshot, thought
from tests.authoring.both_hops_streams import BEGUN_TEXT
from tests.authoring.both_hops_streams import STOPPED as STOPPED_WORDS
from tests.authoring.draft import Draft
from tests.authoring.edits import Pieces, Where, done, typed
from tests.authoring.messages import signature_of
from tests.authoring.messages_streams import BREAD, BREAD_TEXT
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_acp import THOUGHT as CHUNK
from tests.authoring.mutants_ui_message import (
    FINISH,
    SPEAKING,
    SPOKEN,
    SPOKEN_OVER,
    STEP_OVER,
    THINKING,
    THOUGHT,
    THOUGHT_OVER,
)
from tests.authoring.ollama_streams import SOUP, SOUP_TEXT
from tests.authoring.pieces import Fields, Message, Piece, deltas, opaque
from tests.authoring.turns import asks
from tests.authoring.ui_message import answer, own, part, reasoning, step, text

SIGNED: Final = "vercel.ui/ai-sdk/hops-signed"
LOOP: Final = "vercel.ui/ai-sdk/hops-tool-loop"
FAILED: Final = "vercel.ui/ai-sdk/hops-error"
STOPPED: Final = "vercel.ui/ai-sdk/hops-stopped"
AGAIN: Final = "vercel.ui/ai-sdk/hops-tried-again"
HIDDEN: Final = "vercel.ui/ai-sdk/hops-hidden"
SEALED: Final = "agui/agent/hops-hidden"
SEALED_ONLY: Final = "stripping/hidden/sealed-only"
SOUP_SHOWN: Final = "vercel.ui/ai-sdk/hops-soup"
HOSTED: Final = "vercel.ui/ai-sdk/hops-hosted-call"
MARKED: Final = "stripping/visible-text/no-markers"
AGENT: Final = "acp/agent/hops-summary"
AGUI: Final = "agui/agent/hops-signed"
UI: Final = "wire/ui-message"
ERROR: Final = typed("error")
RESTATED: Final[tuple[Fields, ...]] = (
    {"id": "r1", "role": "reasoning", "content": "A thought."},
    {"id": "t1", "role": "assistant", "content": BREAD_TEXT},
)


def _behind(where: Where, *moved: Where) -> edits.Step:
    """The pieces of some kinds go behind the last one of another."""

    def step(pieces: Pieces) -> list[Piece]:
        late = [p for p in pieces if isinstance(p, Message) and any(each(p) for each in moved)]
        rest = [p for p in pieces if not any(p is each for each in late)]
        spot = edits.place(rest, where, -1) + 1
        return [*rest[:spot], *late, *rest[spot:]]

    return step


def _in_span(events: Sequence[Fields]) -> edits.Step:
    """Events come inside the span of reasoning, in front of what is sealed."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, typed("REASONING_ENCRYPTED_VALUE"), 0)
        return [*pieces[:spot], *map(Message, events), *pieces[spot:]]

    return step


def _empty(part_id: str) -> tuple[Message, Message]:
    """A part of reasoning that says nothing, and yet holds something for the provider."""
    sealed = own(itemId=part_id)
    return (
        Message(part("reasoning-start", id=part_id, **sealed)),
        Message(part("reasoning-end", id=part_id, **sealed)),
    )


def _closed_only(draft: Draft) -> Draft:
    """The provider's thinking stands in its text, and nothing but a closing marker tells it."""
    pieces = [*deltas(SOUP), "</think>", *deltas(SOUP_TEXT)]
    return replace(draft, pieces=ollama.answer(ollama.spoken("", pieces), (14, 27)))


def _stopped(reason: str) -> Callable[[Draft], Draft]:
    """The provider's answer ends for another reason."""

    def changed(draft: Draft) -> Draft:
        where = edits.typed("message_delta")
        change = edits.change(where, "delta.stop_reason", reason)
        return replace(draft, pieces=tuple(change(draft.pieces)))

    return changed


def _again(before: list[Fields]) -> edits.Step:
    """The answer anew, with a part of the first try in front of it."""
    shown = (reasoning("0", BREAD, signature_of(0)), text("1", BREAD_TEXT))
    return lambda _: list(answer([step(before, *shown)]))


MUTANTS: Final = (
    # A warning of the application's own is written into the answer.
    Mutant(
        "hop/text",
        SIGNED,
        (edits.insert(Message(part("text-delta", id="1", delta="[retrying] ")), SPOKEN),),
    ),
    # What only a closing marker ends is taken out: the provider alone is wrong.
    Mutant(MARKED, SOUP_SHOWN, turns={2: _closed_only}, name="hop/closing-marker"),
    Mutant(
        "hop/text",
        SOUP_SHOWN,
        (lambda _: list(answer([step(text("1", f"{SOUP}</think>{SOUP_TEXT}"))])),),
        also=("hop/thinking", MARKED),
        turns={2: _closed_only},
        name="hop/closing-marker-shown",
    ),
    # A call of the application's own tool is lost; that of the provider's search need not be there.
    Mutant(
        "hop/tools", HOSTED, (edits.drop_all(edits.having("toolCallId")),), name="hop/tools-hosted"
    ),
    Mutant("hop/tools", LOOP, (edits.change_all(edits.having("toolName"), "toolName", "tool"),)),
    Mutant("hop/thinking", SIGNED, (edits.drop(THOUGHT, 1),)),
    Mutant("hop/thinking", AGENT, (edits.duplicate(CHUNK, -1),), name="hop/thinking-again"),
    # One item of the provider becomes two parts, the first empty.
    Mutant(
        "hop/thinking-parts",
        SIGNED,
        (
            edits.insert(_empty("empty")[0], THINKING),
            edits.insert(_empty("empty")[1], THINKING, after=True),
        ),
    ),
    Mutant(
        "hop/thinking-apart",
        AGUI,
        (_behind(typed("TEXT_MESSAGE_CONTENT"), typed("REASONING_MESSAGE_END")),),
    ),
    Mutant("hop/order", SIGNED, (_behind(SPOKEN_OVER, THINKING, THOUGHT, THOUGHT_OVER),)),
    Mutant(
        "hop/opaque",
        SIGNED,
        (
            edits.change(
                edits.having("providerMetadata.provider.signature"),
                "providerMetadata.provider.signature",
                opaque("another signature"),
            ),
        ),
    ),
    # The loop goes on without what sealed the thought before the call; the interface has it.
    Mutant(
        "hop/opaque-returned",
        LOOP,
        also=("history/responses/sealed-unchanged",),  # of the hop to the model alone
        turns={3: asks("input.1.encrypted_content", opaque("another item", 96))},
    ),
    # The loop goes on with a call that the model did not make.
    Mutant(
        "hop/talk-kept",
        LOOP,
        turns={3: asks("input.2.arguments", '{"line":"mainland"}')},
    ),
    # What is said to be hidden goes into data of the application's own.
    Mutant(
        "hop/thinking-hidden",
        HIDDEN,
        (edits.insert(Message(part("data-log", data={"model": BREAD})), SPEAKING),),
    ),
    Mutant(
        "stripping/hidden/nothing-sent",
        HIDDEN,
        tuple(edits.insert(each, SPEAKING) for each in _empty("0")),
    ),
    # What is to be hidden comes as a message without text, with text, and in a snapshot.
    Mutant(SEALED_ONLY, SEALED, (_in_span(thought("r1", "")),)),
    Mutant(
        SEALED_ONLY, SEALED, (_in_span(thought("r1", "A thought.")),), name=f"{SEALED_ONLY}-text"
    ),
    Mutant(
        SEALED_ONLY,
        SEALED,
        (edits.insert(Message(snapshot(*RESTATED)), typed("TEXT_MESSAGE_END"), after=True),),
        name=f"{SEALED_ONLY}-snapshot",
    ),
    Mutant(
        "hop/failure-no-success",
        FAILED,
        (edits.drop(ERROR), edits.change(FINISH, "finishReason", "stop")),
    ),
    Mutant(
        "hop/failure-told",
        FAILED,
        (edits.drop(ERROR), edits.drop(STEP_OVER), edits.drop(FINISH), edits.drop(done)),
        also=(f"{UI}/done-present",),
    ),
    Mutant(
        "hop/answer-whole",
        SIGNED,
        (
            edits.insert(Message(part("error", errorText="An error occurred.")), STEP_OVER),
            edits.change(FINISH, "finishReason", "error"),
        ),
    ),
    # The user stopped the answer: the application says so in what shows words of the model.
    Mutant(
        "hop/text",
        STOPPED,
        tuple(edits.insert(Message(each), typed("abort")) for each in text("9", STOPPED_WORDS)),
        name="hop/text-stopped",
    ),
    # The model was cut at its limit, and stopped by a filter: the interface is told of a finish.
    Mutant("hop/reason-kept", SIGNED, turns={2: _stopped("max_tokens")}),
    Mutant("hop/reason-kept", SIGNED, turns={2: _stopped("refusal")}, name="hop/reason-filter"),
    Mutant(
        "hop/reason-kept",
        SIGNED,
        (edits.change(FINISH, "finishReason", "length"),),
        name="hop/reason-limit",
    ),
    # The input that runs is not the one that the model wrote, nor the one that was streamed.
    Mutant(
        "hop/tools",
        LOOP,
        (edits.change(typed("tool-input-available"), "input", {"line": "mainland"}),),
        name="hop/tools-input",
    ),
    # What the first try said stays in front of the second one.
    Mutant("hop/try-replaced", AGAIN, (_again(text("9", BEGUN_TEXT)),)),
    Mutant(
        "hop/try-replaced",
        AGAIN,
        (_again(reasoning("9", BREAD, signature_of(0))),),
        name="hop/try-thinking",
    ),
)
