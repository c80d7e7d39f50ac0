"""Levels, verdicts, and how verdicts of slices, exchanges and runs combine."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Level(StrEnum):
    """How binding a rule is."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Verdict(StrEnum):
    """What came of a rule over an exchange; `COMBINING` gives the order in which they win."""

    FAIL = "FAIL"
    PASS = "PASS"  # noqa: S105  # a verdict, not a password
    VACUOUS = "VACUOUS"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT-APPLICABLE"
    UNTESTABLE = "UNTESTABLE"
    ERROR = "ERROR"


COMBINING: Final = (
    Verdict.ERROR,
    Verdict.FAIL,
    Verdict.INCONCLUSIVE,
    Verdict.PASS,
    Verdict.UNTESTABLE,
    Verdict.VACUOUS,
    Verdict.NOT_APPLICABLE,
)
GAPS: Final = frozenset({Verdict.VACUOUS, Verdict.UNTESTABLE})

_RANK: Final = {verdict: rank for rank, verdict in enumerate(COMBINING)}


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict that wins; VACUOUS where there is none."""
    return min(verdicts, key=_RANK.__getitem__, default=Verdict.VACUOUS)
