"""How hard to think: a level in a request becomes a switch and a budget of tokens.

A budget closes the thinking by force; what follows is the answer. `max` thinks as long as the
context lasts. A request that names no level thinks without a budget.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from .refusal import Refusal

OFF: Final = "none"

BUDGETS: Final[Mapping[str, int | None]] = {
    "minimal": 16,
    "low": 64,
    "medium": 512,
    "high": 2048,
    "xhigh": 8192,
    "max": None,
}
"""Level -> most tokens of thinking; None: no limit of its own."""

LEVELS: Final = tuple(BUDGETS)

LEAST_TO_THINK: Final = 4
"""Fewer tokens in all than this leave no room for two markers, a thought and an answer."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Whether to think, and for how many tokens at most (None: no limit of its own)."""

    thinks: bool = True
    budget: int | None = None


def effort(level: str | None, param: str, levels: Collection[str] = LEVELS) -> Effort:
    """Return the effort of a level; None is the default. Raises Refusal for one not in `levels`."""
    if level is None:
        return Effort()
    if level == OFF:
        return Effort(thinks=False)
    if level not in levels:
        known = ", ".join((OFF, *levels))
        raise Refusal(
            f"unknown effort {level!r}; known are {known}", param=param, code="unsupported_value"
        )
    return Effort(budget=BUDGETS[level])


def leaving_room(wanted: Effort, max_tokens: int | None) -> Effort:
    """The same, but at most half of `max_tokens` is thought.

    For thinking that may stay hidden: an answer that is cut by length must show something. It is
    applied whether or not this request sees the thinking, so that both get the same text.
    """
    if max_tokens is None or not wanted.thinks:
        return wanted
    if max_tokens < LEAST_TO_THINK:
        return Effort(thinks=False)
    half = max_tokens // 2 - 1  # the close marker is a token as well
    return replace(wanted, budget=half if wanted.budget is None else min(wanted.budget, half))
