"""Mutants of what neuron and OGX promise: `stripping`, `summary/lifecycle`, `summary/request`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.chat import Server, answer
from tests.authoring.edits import Pieces, Step, renumber, typed
from tests.authoring.likeness_streams import (
    CONCISE,
    DETAILED,
    REASONING,
    thought_and_told,
    told,
    wrapped,
)
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_responses import COMPLETED, THINKING_CLOSED
from tests.authoring.opt_in_streams import BEES_TEXT, BEES_THOUGHT
from tests.authoring.pieces import DONE, Fields, Message, Piece, at, deltas
from tests.authoring.request_streams import KNOTS_TEXT, KNOTS_THOUGHT
from tests.authoring.responses import Answer, Item, message, raw_thinking, stream, summarised
from tests.authoring.turns import Turn, answers

FIELD: Final = "openai.chat/neuron-may/opt-in-by-field"
AUGUST: Final = "openai.chat/neuron-august/thinking-by-default"
EFFORT: Final = "openai.responses/ogx-streamed/needs-effort"
SUMMARIES: Final = "openai.responses/ogx-streamed/summaries"
WHOLE: Final = "openai.responses/ogx-merged/whole-summary"
AS_SUMMARY: Final = "openai.responses/neuron-august/thinking-as-summary"

SUMMARY_PART: Final = typed("response.reasoning_summary_part.added")
RAW_DELTA: Final = typed("response.reasoning_text.delta")
RAMBLING: Final = "It must hold. It must open again. A hitch does. So does a bowline."


def says(pieces: Sequence[Message]) -> Step:
    """Another stream altogether."""
    return lambda _: list(pieces)


def _marked(message: Message) -> bool:
    """Chunks of the thinking, its markers among them."""
    return at(message.payload, "choices.0.delta.content") in (
        "<think>",
        *deltas(BEES_THOUGHT),
        "</think>",
    )


def _field(name: str) -> list[Message]:
    return answer(Server(), name, BEES_THOUGHT, BEES_TEXT)


def _items(thinking: list[Fields], kind: str = "concise") -> Step:
    """Another reasoning item before the same message."""
    asked = {"reasoning": {"effort": "low", "summary": kind}}
    return says(told([*thinking, *message(Item(1, "msg_02"), KNOTS_TEXT)], asked))


def _summed_up(text: str, kind: str) -> Turn:
    return answers(_items(thought_and_told((text,)), kind))


def _silent() -> Step:
    asked = {"reasoning": {"effort": "low"}}
    return says(told(message(Item(0, "msg_02"), KNOTS_TEXT), asked))


def _never_thought() -> list[Fields]:
    """A summary of thinking that nobody saw."""
    *events, end = summarised(REASONING, (CONCISE,))
    return [*events, {**end, "item": {**end["item"], "status": "completed", "content": []}}]


def _another_item_empty(pieces: Pieces) -> list[Piece]:
    """After the reasoning item stands one that says nothing."""
    del pieces
    asked = {"reasoning": {"effort": "low", "summary": "concise"}}
    empty = Item(1, "rs_02")
    events = [
        *thought_and_told((CONCISE,)),
        empty.added(type="reasoning", status="in_progress", content=[], summary=[]),
        empty.done(type="reasoning", status="completed", content=[], summary=[]),
        *message(Item(2, "msg_02"), KNOTS_TEXT),
    ]
    return list(told(events, asked))


def _summary_early(pieces: Pieces) -> list[Piece]:
    """The first part of the summary comes in the middle of the raw text."""
    first = edits.place(pieces, SUMMARY_PART)
    second = edits.place(pieces, SUMMARY_PART, 1)
    spot = edits.place(pieces, RAW_DELTA, 2)
    part = pieces[first:second]
    return [*pieces[:spot], *part, *pieces[spot:first], *pieces[second:]]


def _closed_item(path: str, value: Any) -> tuple[Step, Step]:
    """The closed reasoning item, and its copy in the closing response, hold another value."""
    return (
        edits.change(THINKING_CLOSED, f"item.{path}", value),
        edits.change(COMPLETED, f"response.output.0.{path}", value),
    )


def _raw(pieces: Pieces) -> list[Piece]:
    del pieces
    items = [*raw_thinking(REASONING, KNOTS_THOUGHT), *message(Item(1, "msg_02"), KNOTS_TEXT)]
    return list(stream(Answer("resp_00", "think-1", {}).completed(items, (9, 34, 20))))


TWO_PARTS: Final = [{"type": "summary_text", "text": text} for text in DETAILED]

MUTANTS: Final = (
    Mutant("stripping/opt-in/hidden-without-field", FIELD, (says([*wrapped(Server()), DONE]),)),
    Mutant("stripping/opt-in/shown-by-field", FIELD, turns={2: answers(edits.drop_all(_marked))}),
    Mutant(
        "stripping/opt-in/wrapped-when-asked",
        AUGUST,
        turns={2: answers(says(_field("reasoning_content")))},
    ),
    Mutant("stripping/opt-in/unmarked-by-default", AUGUST, (says([*wrapped(Server()), DONE]),)),
    Mutant("stripping/carrier/in-reasoning-content", AUGUST, (says(_field("reasoning")),)),
    Mutant(
        "stripping/carrier/in-reasoning",
        "openai.chat/ogx-merged/passed-through",
        (says(_field("reasoning_content")[:-1]),),
    ),
    Mutant(
        "stripping/opt-in/hidden-without-effort",
        EFFORT,
        (
            says(
                told(
                    [
                        *raw_thinking(REASONING, KNOTS_THOUGHT),
                        *message(Item(1, "msg_02"), KNOTS_TEXT),
                    ],
                    {},
                )
            ),
        ),
    ),
    Mutant("stripping/opt-in/shown-with-effort", EFFORT, turns={2: answers(_silent())}),
    Mutant(
        "summary/lifecycle/part-per-paragraph",
        SUMMARIES,
        turns={3: answers(_items(thought_and_told(("\n\n".join(DETAILED),)), "detailed"))},
    ),
    Mutant(
        "summary/request/concise-is-short",
        SUMMARIES,
        turns={1: _summed_up(RAMBLING, "concise"), 2: _summed_up(RAMBLING, "auto")},
    ),
    Mutant(
        "summary/request/auto-is-concise", SUMMARIES, turns={2: _summed_up(DETAILED[0], "auto")}
    ),
    Mutant("summary/request/nothing-to-summarise", SUMMARIES, (_items(_never_thought()),)),
    Mutant("summary/lifecycle/item-says-something", SUMMARIES, (_another_item_empty,)),
    Mutant("summary/lifecycle/after-raw", SUMMARIES, turns={3: answers(_summary_early, renumber)}),
    Mutant(
        "summary/lifecycle/in-item-only",
        WHOLE,
        (_items(thought_and_told(("\n\n".join(DETAILED),)), "detailed"),),
    ),
    Mutant("summary/lifecycle/in-one-part", WHOLE, _closed_item("summary", TWO_PARTS)),
    Mutant("summary/request/thinking-as-summary", AS_SUMMARY, (_raw,)),
)
