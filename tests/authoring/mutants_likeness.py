"""Mutants of what neuron and OGX promise: `stripping`, `summary/lifecycle`, `summary/request`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.authoring.edits import Pieces, Step
from tests.authoring.likeness_streams import (
    CONCISE,
    DETAILED,
    REASONING,
    ogx_stream,
    thought_and_summary,
)
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields, Message, Piece
from tests.authoring.request_streams import KNOTS_TEXT, KNOTS_THOUGHT
from tests.authoring.responses import Answer, Item, message, raw_thinking, stream
from tests.authoring.turns import Turn, answers

EFFORT: Final = "openai.responses/ogx-streamed/needs-effort"
SUMMARIES: Final = "openai.responses/ogx-streamed/summaries"
WHOLE: Final = "openai.responses/ogx-merged/whole-summary"
AS_SUMMARY: Final = "openai.responses/neuron-august/thinking-as-summary"

RAMBLING: Final = "It must hold. It must open again. A hitch does. So does a bowline."


def says(pieces: Sequence[Message]) -> Step:
    """Another stream altogether."""
    return lambda _: list(pieces)


def _items(thinking: list[Fields], kind: str = "concise") -> Step:
    """Another reasoning item before the same message."""
    asked = {"reasoning": {"effort": "low", "summary": kind}}
    return says(ogx_stream([*thinking, *message(Item(1, "msg_02"), KNOTS_TEXT)], asked))


def _summed_up(text: str, kind: str) -> Turn:
    return answers(_items(thought_and_summary((text,)), kind))


def _silent() -> Step:
    asked = {"reasoning": {"effort": "low"}}
    return says(ogx_stream(message(Item(0, "msg_02"), KNOTS_TEXT), asked))


def _another_item_empty(pieces: Pieces) -> list[Piece]:
    """After the reasoning item stands one that says nothing."""
    del pieces
    asked = {"reasoning": {"effort": "low", "summary": "concise"}}
    empty = Item(1, "rs_02")
    events = [
        *thought_and_summary((CONCISE,)),
        empty.added(type="reasoning", status="in_progress", content=[], summary=[]),
        empty.done(type="reasoning", status="completed", content=[], summary=[]),
        *message(Item(2, "msg_02"), KNOTS_TEXT),
    ]
    return list(ogx_stream(events, asked))


def _raw(pieces: Pieces) -> list[Piece]:
    del pieces
    items = [*raw_thinking(REASONING, KNOTS_THOUGHT), *message(Item(1, "msg_02"), KNOTS_TEXT)]
    return list(stream(Answer("resp_00", "think-1", {}).completed(items, (9, 34, 20))))


MUTANTS: Final = (
    Mutant(
        "stripping/opt-in/hidden-without-effort",
        EFFORT,
        (
            says(
                ogx_stream(
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
        turns={3: answers(_items(thought_and_summary(("\n\n".join(DETAILED),)), "detailed"))},
    ),
    Mutant(
        "summary/request/concise-is-short",
        SUMMARIES,
        turns={1: _summed_up(RAMBLING, "concise"), 2: _summed_up(RAMBLING, "auto")},
    ),
    Mutant(
        "summary/request/auto-is-concise", SUMMARIES, turns={2: _summed_up(DETAILED[0], "auto")}
    ),
    Mutant("summary/lifecycle/item-says-something", SUMMARIES, (_another_item_empty,)),
    Mutant(
        "summary/lifecycle/in-item-only",
        WHOLE,
        (_items(thought_and_summary(("\n\n".join(DETAILED),)), "detailed"),),
    ),
    Mutant("summary/request/thinking-as-summary", AS_SUMMARY, (_raw,)),
)
