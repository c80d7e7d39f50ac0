"""Mutants of `hop`: what an application loses, doubles, delays or covers up of its provider's."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.authoring import ollama
from tests.authoring.draft import Draft
from tests.authoring.mutant import Mutant
from tests.authoring.ollama import SOUP, SOUP_TEXT
from tests.authoring.pieces import deltas
from tests.authoring.ui_message import answer, step, text

SOUP_SHOWN: Final = "vercel.ui/ai-sdk/hops-soup"
MARKED: Final = "stripping/visible-text/no-markers"


def _closed_only(draft: Draft) -> Draft:
    """The provider's thinking stands in its text, and nothing but a closing marker tells it."""
    pieces = [*deltas(SOUP), "</think>", *deltas(SOUP_TEXT)]
    return replace(draft, pieces=ollama.answer(ollama.spoken("", pieces), (14, 27)))


MUTANTS: Final = (
    # What only a closing marker ends is taken out: the provider alone is wrong.
    Mutant(MARKED, SOUP_SHOWN, turns={2: _closed_only}, name="hop/closing-marker"),
    Mutant(
        "hop/text",
        SOUP_SHOWN,
        (lambda _: list(answer([step(text("1", f"{SOUP}</think>{SOUP_TEXT}"))])),),
        also=(MARKED,),
        turns={2: _closed_only},
        name="hop/closing-marker-shown",
    ),
)
