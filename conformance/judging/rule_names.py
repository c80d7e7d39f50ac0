"""Short names of rules: the last part of an id, or any part that only one id has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from typing import Final

from conformance.core.errors import UsageError
from conformance.rules.model import Rule
from conformance.rules.node import nearest

_SHOWN: Final = 5  # ids of rules that fit
_WILDCARDS: Final = frozenset("*?[")


def fits_rule(rule: str, glob: str) -> bool:
    """Whether a glob fits a rule's id, or a name without wildcards its last parts."""
    if not _WILDCARDS.isdisjoint(glob):
        return fnmatchcase(rule, glob)
    return rule == glob or rule.endswith(f"/{glob}")


def rule_filter(globs: Sequence[str]) -> Callable[[str], bool]:
    """Whether any of the globs fits a rule's id; of hundreds of ids this asks all at once."""
    names = frozenset(glob for glob in globs if _WILDCARDS.isdisjoint(glob))
    endings = tuple(f"/{name}" for name in names)
    wild = tuple(glob for glob in globs if glob not in names)

    def fits(rule: str) -> bool:
        is_named = rule in names or rule.endswith(endings)
        return is_named or any(fnmatchcase(rule, glob) for glob in wild)

    return fits


def chosen_rules(rules: Sequence[Rule], globs: Sequence[str]) -> list[Rule]:
    """The rules that any of the globs fits, all where there is none; UsageError for idle globs."""
    known = [rule.id for rule in rules]
    for glob in globs:
        if not any(fits_rule(each, glob) for each in known):
            raise UsageError(f"no rule matches {glob!r}", hint=nearest_rule(glob, known))
    fits = rule_filter(globs)
    return [rule for rule in rules if not globs or fits(rule.id)]


def find_rule_id(typed: str, known: Collection[str]) -> str:
    """Find the rule id meant; UsageError if none or several fit."""
    if typed in known:
        return typed
    ending = [rule for rule in known if rule.endswith(f"/{typed}")]
    holding = [rule for rule in known if typed and typed in rule]
    for found in (sorted(ending), sorted(holding)):
        if len(found) == 1:
            return found[0]
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise UsageError(f"{typed!r} fits {', '.join(found[:_SHOWN])}{more}; which one?")
    raise UsageError(f"there is no rule {typed!r}", hint=nearest_rule(typed, known))


def nearest_rule(typed: str, known: Collection[str]) -> str:
    """A hint at the rule that was perhaps meant; empty where none is near."""
    # The last part is what people remember; a whole id is too far from it to be near.
    last = {rule.rpartition("/")[2]: rule for rule in known}
    return nearest(typed, known) or nearest(typed.rpartition("/")[2], last)
