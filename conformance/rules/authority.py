"""The authority behind a rule, and whether it is enough for a MUST.

Rule 1: a quoted sentence, a client that breaks, or ENOUGH recordings without an exception carry a
        MUST.
Rule 2: all of these except the quotation carry a MUST by themselves: a system may deviate from a
        quoted document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.rules.model import Rule

ENOUGH: Final = 30  # recordings that alone carry a MUST
_SENTENCE: Final = 500  # characters of an observation that are read
_TALLY: Final = re.compile(r"\b([0-9][0-9,]{0,9}) of ([0-9][0-9,]{0,9})\b")
_COUNTED: Final = re.compile(r"\b([0-9][0-9,]{0,9}) (?:\w+ )?(?:recording|stream|answer)s?\b")
_NO_EXCEPTION: Final = re.compile(r"\b([0-9][0-9,]{0,9}) record\w+\b.*\bno exception\b")


def carries_must(rule: Rule) -> bool:
    """Rule 1."""
    return any("quote" in each for each in rule.source) or carries_by_itself(rule)


def carries_by_itself(rule: Rule) -> bool:
    """Rule 2: in any system the fault breaks a client, or no recorded system has it."""
    return any("breaks" in each or _is_observed(each) for each in rule.source)


def first_tally(text: str) -> int | None:
    """The recordings that show it, as the first clause counts them; None where it counts none."""
    clause = text[:_SENTENCE].partition(";")[0]
    found = _TALLY.search(clause) or _COUNTED.search(clause)
    return None if found is None else _count_of(found[1])


def _is_observed(source: Mapping[str, Any]) -> bool:
    """Enough recordings hold, and those that do not are none, or named after a semicolon."""
    text = source.get("observed", "")[:_SENTENCE]
    if any(_count_of(m[1]) >= ENOUGH for m in _NO_EXCEPTION.finditer(text)):
        return True
    return any(
        _count_of(m[1]) >= ENOUGH and (m[1] == m[2] or ";" in text[m.end() :])
        for m in _TALLY.finditer(text)
    )


def _count_of(digits: str) -> int:
    return int(digits.replace(",", ""))
