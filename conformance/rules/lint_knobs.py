"""Knobs that a rule reads: declared by the dialect, with values that a profile may give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.rules.lint_texts import Fault
from conformance.rules.model import Rule
from conformance.rules.node import Node, nearest, shown
from conformance.rules.patterns import CHOICES, REQUEST, references, same

PROMISE: Final = "promises."
_HINTED: Final = re.compile(r"\bknobs? ([a-z][a-z0-9_]*)")

Knobs = Mapping[str, Mapping[str, tuple[Any, ...]]]


def knobs_read(rule: Rule) -> frozenset[str]:
    """Knobs whose value is in the rule's events or form as `$knob`."""
    patterns = [alias.type for alias in rule.aliases.values()]
    patterns += [value for alias in rule.aliases.values() for _, value in alias.conditions]
    applies = rule.applies
    patterns += applies.of_exchange()
    patterns += rule.form.knob_values()
    named = frozenset[str]().union(*(references(pattern) for pattern in patterns))
    return frozenset(name for name in named if not name.startswith((REQUEST, CHOICES)))


def knob_faults(rule: Rule, node: Node, declared: Knobs) -> Iterator[Fault]:
    """Faults of a rule's `$knob`, of its `applies.profile`, and of what its hint points at."""
    if not declared:
        return
    own = [declared.get(each, {}) for each in rule.dialects] or list(declared.values())
    everywhere = frozenset.intersection(*(frozenset(knobs) for knobs in own))
    anywhere = frozenset().union(*own)
    for name in sorted(knobs_read(rule) - everywhere):
        yield "error", node.error(*_unknown_name(name, everywhere))
    for name in _HINTED.findall(f"{rule.hint} {rule.fix}"):
        if name not in anywhere:
            text = node.required("hint" if name in rule.hint else "fix")
            yield "error", text.error(*_unknown_name(name, anywhere))
    yield from _condition_faults(rule, node, own)


def _unknown_name(name: str, known: frozenset[str]) -> tuple[str]:
    near = nearest(name, known)
    return (f"no knob {name!r} in this dialect's profiles{f' ({near})' if near else ''}",)


def _condition_faults(
    rule: Rule, node: Node, own: list[Mapping[str, tuple[Any, ...]]]
) -> Iterator[Fault]:
    for name, pattern in rule.applies.profile:
        if name.startswith(PROMISE):
            continue
        key = node.required("applies").required("profile").key(name)
        having = [knobs[name] for knobs in own if name in knobs]
        if not having:
            yield "error", key.error(*_unknown_name(name, frozenset().union(*own)))
            continue
        for value in _pattern_constants(pattern):
            if not any(not allowed or any(same(value, a) for a in allowed) for allowed in having):
                yield "error", key.error(f"knob {name!r} is never {shown(value)}")


def _pattern_constants(pattern: Any) -> Iterator[Any]:
    """The constants of a pattern; a schema may mean anything."""
    if isinstance(pattern, list | tuple):
        for each in pattern:
            yield from _pattern_constants(each)
    elif isinstance(pattern, Mapping):
        if set(pattern) == {"not"}:
            yield from _pattern_constants(pattern["not"])
    else:
        yield pattern
