"""A mutant: a good cassette with one defect, and the rules that it breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.authoring.draft import Draft
from tests.authoring.edits import Step
from tests.authoring.pieces import Message
from tests.authoring.turns import Turn

DEMO: Final = "demo/summary"


@dataclass(frozen=True, slots=True)
class Mutant:
    """`steps` edit the pieces of `base`, `reported` what its client reported, `facts` the rest.

    These mean the first exchange; `turns` edit any of them, by number. `rule` is the one that it is
    made for, `also` are others that cannot but fail with it.
    """

    rule: str
    base: str
    steps: tuple[Step, ...] = ()
    also: tuple[str, ...] = ()
    reported: tuple[Step, ...] = ()
    answer_of: str | Mapping[int, Any] = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    turns: Mapping[int, Turn] = field(default_factory=dict)
    name: str = ""

    def draft(self, drafts: Mapping[str, Draft]) -> Draft:
        """The cassette, with its verdicts declared."""
        base = drafts[self.base]
        turns = self._answers(drafts)
        for number, edited in self.turns.items():
            turns[number - 1] = edited(turns[number - 1])
        first, *then = turns
        pieces: Sequence[Any] = first.pieces
        for step in self.steps:
            pieces = step(pieces)
        seen = base.seen
        if self.reported:
            seen = self._reported(base.seen or ())
        return replace(
            first,
            name=f"mutants/{self.name or self.rule}",
            pieces=tuple(pieces),
            seen=seen,
            then=tuple(then),
            expect=dict.fromkeys((self.rule, *self.also), "FAIL"),
            base=self.base,
            **self.facts,
        )

    def _answers(self, drafts: Mapping[str, Draft]) -> list[Draft]:
        """The exchanges of the base, some of them with the answer of another draft."""
        turns = [drafts[self.base], *drafts[self.base].then]
        stated = {1: self.answer_of} if isinstance(self.answer_of, str) else self.answer_of
        for number, source in stated.items():
            if source:
                name, of = source if isinstance(source, list) else (source, 1)
                other = (drafts[name], *drafts[name].then)[of - 1]
                turns[number - 1] = replace(turns[number - 1], pieces=other.pieces)
        return turns

    def _reported(self, seen: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
        pieces: Sequence[Any] = [Message(dict(event)) for event in seen]
        for step in self.reported:
            pieces = step(pieces)
        return tuple(piece.payload for piece in pieces)
