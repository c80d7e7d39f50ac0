"""The shipped rules, loaded once in a process."""

from __future__ import annotations

from functools import cache

from conformance.judging.rulebook import Rulebook


@cache
def rulebook() -> Rulebook:
    return Rulebook.load()
