"""The order of a stream's events, with repetitions counted once.

A model that thinks longer sends more deltas and more parts; neither changes the wire. So an event
or short group that follows itself counts once: `a b b c b b c` has the order `a b c`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_LONGEST_GROUP: Final = 12
_MOST_STEPS: Final = 20_000
_MOST_COMPARED: Final = 400
_ROUNDS: Final = 3


class StepOrder:
    """Collects the steps of one stream; bounded, however long it is."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self.is_clipped = False

    def add_step(self, step: str) -> None:
        """The next step; empty for none."""
        if not step or (self._steps and self._steps[-1] == step):
            return
        if len(self._steps) >= _MOST_STEPS:
            self.is_clipped = True
            return
        self._steps.append(step)

    def collapsed_steps(self) -> tuple[str, ...]:
        """The steps, repeated groups once."""
        steps = self._steps
        for _ in range(_ROUNDS):
            before = len(steps)
            for size in range(1, _LONGEST_GROUP + 1):
                steps = _collapse_groups(steps, size)
            if len(steps) == before:
                break
        return tuple(steps)


def _collapse_groups(steps: list[str], size: int) -> list[str]:
    """Without groups of that many steps that follow themselves."""
    kept: list[str] = []
    at = 0
    while at < len(steps):
        group = steps[at : at + size]
        if len(group) == size and kept[-size:] == group:
            at += size
        else:
            kept.append(steps[at])
            at += 1
    return kept


class OrderEdit(NamedTuple):
    """The old and the new events after a step that both orders have."""

    after: str
    before: tuple[str, ...]
    now: tuple[str, ...]


def order_edits(old: Sequence[str], new: Sequence[str]) -> Iterator[OrderEdit]:
    same = common_length(old, new)
    tail = min(common_length(old[::-1], new[::-1]), min(len(old), len(new)) - same)
    # Equal beginnings and ends are set aside first: the comparison itself is not linear.
    left = old[same : len(old) - tail][:_MOST_COMPARED]
    right = new[same : len(new) - tail][:_MOST_COMPARED]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            before = same + i1
            yield OrderEdit(
                old[before - 1] if before else "", tuple(left[i1:i2]), tuple(right[j1:j2])
            )


def common_length(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))
