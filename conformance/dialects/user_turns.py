"""The turns of the user in a request, in a form in which those of two APIs can be compared.

Rule 1: what the user says between two answers is one turn: some APIs demand that roles alternate.
Rule 2: a call with its result belongs to the turn that led to it; how many there are counts, not
        whether each has a separate entry.
Rule 3: an answer without text and calls is none: thinking alone need not go back.
Rule 4: white space does not count, nor do system prompts.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from conformance.dialects.json_edge import mapping
from conformance.dialects.turns import HistoryEntry, HistoryForm


class UserTurn(Struct, frozen=True):
    """What the user says in a turn, and how many results of calls follow.

    `others` is the text of entries that hold results: some of it may be the user's. Both texts have
    one space where there was any.
    """

    text: str = ""
    results: int = 0
    others: str = ""

    def says_as(self, other: UserTurn) -> bool:
        """Whether the user says the same in both, as far as is known."""
        shorter, longer = sorted((self, other), key=lambda turn: len(_without_space(turn.text)))
        less, more = _without_space(shorter.text), _without_space(longer.text)
        return more.startswith(less) and more[len(less) :] in _without_space(shorter.others)


def user_turns(body: Any, form: HistoryForm) -> list[UserTurn]:
    turns: list[_TurnParts] = []
    is_answered = False
    for entry in form.entries(body):
        read = form.read(entry)
        if read.by == "model":
            is_answered = is_answered or bool(read.text or read.calls)
        if read.by not in ("user", "tool"):
            continue
        if not turns or (is_answered and read.by == "user"):
            turns.append(_TurnParts())
        turns[-1].add(entry, read)
        is_answered = False
    return [each.whole() for each in turns]


class _TurnParts(Struct):
    """What a turn is made of, entry by entry."""

    texts: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    results: int = 0

    def add(self, entry: Any, read: HistoryEntry) -> None:
        self.results += len(read.results)
        if read.by == "user":
            self.texts.append(read.text)
        elif mapping(entry).get("role") == "user":
            self.others.append(read.text)

    def whole(self) -> UserTurn:
        text, others = (" ".join(" ".join(each).split()) for each in (self.texts, self.others))
        return UserTurn(text, self.results, others)


def _without_space(text: str) -> str:
    return text.replace(" ", "")
