"""Rule ids as people type them: in full, or any unambiguous end or beginning."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from conformance.core.errors import UsageError
from conformance.rules.node import nearest

_SHOWN: Final = 5


def full_id(typed: str, known: Collection[str]) -> str:
    """Find the rule id meant; UsageError if none or several fit."""
    if typed in known:
        return typed
    for fits in (_ends, _holds):
        found = sorted(rule for rule in known if fits(rule, typed))
        if len(found) == 1:
            return found[0]
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise UsageError(f"{typed!r} fits {', '.join(found[:_SHOWN])}{more}; which one?")
    raise UsageError(f"there is no rule {typed!r}", hint=_suggestion(typed, known))


def _ends(rule: str, typed: str) -> bool:
    return rule.endswith(f"/{typed}")


def _holds(rule: str, typed: str) -> bool:
    return bool(typed) and typed in rule


def _suggestion(typed: str, known: Collection[str]) -> str:
    # The last part is what people remember; a whole id is too far from it to be near.
    last = {rule.rpartition("/")[2]: rule for rule in known}
    return nearest(typed, known) or nearest(typed.rpartition("/")[2], last)
