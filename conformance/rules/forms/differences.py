"""The first difference of two JSON values, as one path and two short views."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from conformance.core.excerpts import beginning, redacted
from conformance.rules.about import Change
from conformance.rules.forms.texts import difference
from conformance.rules.paths import MISSING
from conformance.rules.patterns import token

_SHOWN: Final = 80  # characters of a value
_WORD: Final = "type"  # a field whose text is one word: it is reported whole


class Difference(NamedTuple):
    """The path of a difference (`2.summary.0.text`), what either side has there; texts: how."""

    path: str
    had: str
    has: str
    change: Change = Change.NONE


def first_difference(left: Any, right: Any, path: str = "") -> Difference:
    """The first difference; of an element that only one side has, the other one has nothing."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in [*left, *(key for key in right if key not in left)]:
            if left.get(key, MISSING) != right.get(key, MISSING):
                below = f"{path}.{key}".lstrip(".")
                return first_difference(left.get(key, MISSING), right.get(key, MISSING), below)
    if isinstance(left, list) and isinstance(right, list):
        at = _first_other(left, right)
        below = f"{path}.{at}".lstrip(".")
        if _is_longer_by_one_run(left, right, at):
            return Difference(below, _of_list(left[at], left), _of_list(MISSING, right))
        if _is_longer_by_one_run(right, left, at):
            return Difference(below, _of_list(MISSING, left), _of_list(right[at], right))
        if at < min(len(left), len(right)):
            return first_difference(left[at], right[at], below)
    if isinstance(left, str) and isinstance(right, str):
        at, had, has = difference(left, right)
        if path.rpartition(".")[2] == _WORD:
            had, has = (beginning(repr(each), _SHOWN, "") for each in (left, right))
        change = Change.of(left, right, at)
        return Difference(f"{path or 'text'} (character {at})", had, has, change)
    return Difference(path or "value", view(left), view(right))


def _first_other(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Where two lists part; the end of the shorter one, where it is the beginning of the other."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))


def _is_longer_by_one_run(longer: Sequence[Any], shorter: Sequence[Any], at: int) -> bool:
    """Whether both are equal except for one run of extra elements of the longer one from there."""
    more = len(longer) - len(shorter)
    return more > 0 and longer[at + more :] == shorter[at:]


def _of_list(value: Any, whole: Sequence[Any]) -> str:
    return f"{view(value)} (elements: {len(whole)})"


def view(value: Any) -> str:
    """A value as JSON, clipped."""
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return redacted(text) if len(text) <= _SHOWN else beginning(text, _SHOWN - 3, "...")


def first_missing(wanted: list[Any], within: Any) -> Any:
    """MISSING if all of `wanted` is in `within` in that order, else the first that is not.

    A value that is wanted several times needs to be there only once.
    """
    rest = iter([token(each) for each in within] if isinstance(within, list) else [])
    met: set[str] = set()
    for value in wanted:
        name = token(value)
        if name not in met and name not in rest:  # what `in` skips is used up
            return value
        met.add(name)
    return MISSING


def in_one_order(wanted: Sequence[str], within: Sequence[str]) -> bool | None:
    """Whether the values on both sides come in one order, whatever else is `within`.

    None if one side has a value more often: it was altered, and its order is unknown. Equal
    adjacent values may be pieces of one, so they count once.
    """
    known = set(wanted)
    shared = [each for each in within if each in known]
    pairs = (wanted, shared), (without_repeats(wanted), without_repeats(shared))
    orders = [list(one) == list(other) for one, other in pairs if sorted(one) == sorted(other)]
    return all(orders) if orders else None


def without_repeats(texts: Sequence[str]) -> list[str]:
    """The texts, with one of each run of equal ones."""
    return [each for each, _ in groupby(texts)]
