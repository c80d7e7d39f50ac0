"""Mutants of `stripping/opt-in`, `discovery/models` and `wire/timing`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.authoring import edits
from tests.authoring.draft import GAPS_MS, Draft
from tests.authoring.edits import Pieces
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_chat import SAID
from tests.authoring.mutants_wire import CONTENT, TEXT
from tests.authoring.opt_in_streams import BEES_THOUGHT
from tests.authoring.pieces import Message, Piece, at, deltas
from tests.authoring.turns import answers, both

OPT_IN: Final = "openai.chat/reference/opt-in"
GATEWAY: Final = "openai.chat/reference/opt-in-through-gateway"
# Half a minute more than a client waits that gives up after five.
IDLE_MS: Final = 60_001.0
BUFFERED_MS: Final = 3000.0
SILENCE_MS: Final = 330_000.0


def _thinking_shown(pieces: Pieces) -> list[Piece]:
    """The server wraps the thinking although nobody asked for it."""
    spot = edits.place(pieces, SAID)
    model = pieces[spot]
    assert isinstance(model, Message)
    texts = ["<think>", *deltas(BEES_THOUGHT), "</think>"]
    wrapped = [edits.changed(model, CONTENT, text) for text in texts]
    return [*pieces[:spot], *wrapped, *pieces[spot:]]


def _thinking_hidden(pieces: Pieces) -> list[Piece]:
    """Everything up to the close marker is left out."""
    start = edits.place(pieces, SAID)
    end = edits.place(pieces, lambda message: at(message.payload, CONTENT) == "</think>")
    return [*pieces[:start], *pieces[end + 1 :]]


def _not_opted_in(draft: Draft) -> Draft:
    return replace(draft, headers=())


MUTANTS: Final = (
    Mutant("stripping/opt-in/hidden-by-default", OPT_IN, (_thinking_shown,)),
    Mutant("stripping/opt-in/shown-when-asked", OPT_IN, turns={2: answers(_thinking_hidden)}),
    # Nobody told the server that the client opted in, so the client sees no thinking, either.
    Mutant(
        "stripping/opt-in/opt-in-crosses",
        GATEWAY,
        also=("stripping/opt-in/shown-when-asked",),
        turns={1: answers(_thinking_hidden), 2: both(_not_opted_in, answers(_thinking_hidden))},
    ),
    Mutant(
        "wire/timing/no-long-silence",
        TEXT,
        also=("wire/timing/no-idle-line",),
        facts={"gaps": (*GAPS_MS, SILENCE_MS, *GAPS_MS * 9)},
    ),
    Mutant("wire/timing/no-idle-line", TEXT, facts={"gaps": (*GAPS_MS, IDLE_MS, *GAPS_MS * 9)}),
    # The proxy kept everything back until the answer was over.
    Mutant("wire/timing/no-bursts", TEXT, facts={"gaps": (BUFFERED_MS, *(0.0,) * 99)}),
)
