"""The events a rule names: distinguished, ordered soundly, with fields that exist, at what cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.events import SEMANTIC_EVENTS
from conformance.rules.alias import Alias
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.never import Never
from conformance.rules.lint_texts import Fault
from conformance.rules.model import Rule
from conformance.rules.node import Node, nearest

# A dialect makes these itself: a server's bytes say at most what they carry.
_STARTS_AND_ENDS: Final = frozenset(
    {
        *("message.start", "thinking.start", "thinking.end", "text.start", "text.end"),
        *("tool.start", "tool.end"),
    }
)
_OWN_FIELDS: Final = frozenset({"choice", "block", "explicit"})
_DELTAS: Final = (".delta", "_delta", ".choice")
_TEXT_PATH: Final = re.compile(
    r"delta|text|arguments|delta\.(content|reasoning\w*|text|thinking|partial_json)"
)


def event_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    """Faults of the events that a rule names and of the fields it reads in them."""
    yield from _twin_faults(rule, node)
    yield from _view_faults(rule, node)
    yield from _subject_faults(rule, node)
    yield from _order_faults(rule, node)
    yield from _field_faults(rule, node)
    yield from _cost_faults(rule, node)


def is_delta(alias: Alias) -> bool:
    """Whether one of its types comes once per delta."""
    return any(kind.endswith(_DELTAS) for kind in alias.types)


def _twin_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for name, alias in sorted(rule.aliases.items()):
        first = seen.setdefault(_pattern_text(alias), name)
        if first != name:
            message = f"events {first!r} and {name!r} are the same: no event is only one of them"
            yield "error", _form_value(rule, node).error(message)


def _pattern_text(alias: Alias) -> str:
    kind: Any = sorted(alias.types) or alias.type
    return repr((alias.layer, kind, sorted(alias.conditions, key=repr)))


def _view_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    if isinstance(rule.form, Compare):
        return
    wire = sorted(name for name, a in rule.aliases.items() if a.layer != "semantic")
    if rule.view == "client" and wire:
        message = f"a client reports semantic events only: {wire[0]!r} never comes"
        yield "error", _form_value(rule, node).error(message)
    if rule.view == "wire" and rule.aliases and _checks_ourselves(rule):
        message = "on the wire, starts and ends are the dialect's own work: the rule checks us"
        yield "error", _form_value(rule, node).error(message, hint="applies: {view: client}")


def _checks_ourselves(rule: Rule) -> bool:
    looked_at = rule.form.looked_at
    if looked_at is not None:
        return all(_is_own(rule.aliases[name], path) for name, path in looked_at.items())
    return all(_is_start_or_end(alias) for alias in rule.aliases.values())


def _is_start_or_end(alias: Alias) -> bool:
    # `explicit` says whether the wire carried it: evidence, not our work.
    is_explicit = any(path == "explicit" for path, _ in alias.conditions)
    return (
        alias.layer == "semantic" and _STARTS_AND_ENDS.issuperset(alias.types) and not is_explicit
    )


def _is_own(alias: Alias, path: str) -> bool:
    if not _is_start_or_end(alias):
        return False
    read = frozenset().union(*(SEMANTIC_EVENTS[kind] for kind in alias.types))
    return (read if path == "*" else {path or "choice"}) <= _OWN_FIELDS


def _subject_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    wire = sorted(name for name, a in rule.subject.items() if a.layer != "semantic")
    if rule.view == "client" and wire:
        message = f"a client reports semantic events only: {wire[0]!r} never comes"
        yield "error", node.required("subject").error(message)
    if not isinstance(rule.form, Never) or rule.form.is_ordered or rule.subject:
        return
    if not any(rule.aliases[name].conditions for name in rule.form.events):
        message = "passes for every stream: name the subject that must be there"
        yield "warning", _form_value(rule, node).error(message)


def _order_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    layers = {alias.layer for alias in rule.aliases.values()}
    if rule.form.is_ordered and {"wire", "semantic"} <= layers:
        message = "orders wire against semantic events: one frame gives rise to both"
        yield "warning", _form_value(rule, node).error(message)


def _field_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    for name, path in _read_paths(rule):
        alias = _named_events(rule)[name]
        known = _known_fields(alias)
        field = path.split(".", maxsplit=1)[0]
        if known is not None and path and field not in known:
            message = f"{alias.types[0]} has no field {field!r}"
            yield "error", _form_value(rule, node).error(message, hint=nearest(field, known))
    fields = [_known_fields(alias) for alias in rule.aliases.values()]
    if rule.slice and fields and not any(f is None or f.issuperset(rule.slice) for f in fields):
        message = f"no event of the rule has all of {', '.join(rule.slice)}: no slice ever opens"
        yield "error", node.required("slice").error(message)


def _known_fields(alias: Alias) -> frozenset[str] | None:
    """Fields that all its types may carry; None outside the semantic layer."""
    if alias.layer != "semantic" or not alias.types:
        return None
    return frozenset.intersection(*(SEMANTIC_EVENTS[kind] | {"choice"} for kind in alias.types))


def _read_paths(rule: Rule) -> Iterator[tuple[str, str]]:
    """Every (event name, path) that the rule reads."""
    for name, alias in _named_events(rule).items():
        yield from ((name, path) for path, _ in alias.conditions)
    yield from rule.form.paths()


def _named_events(rule: Rule) -> Mapping[str, Alias]:
    """All events that the rule names, its subject too."""
    return {**rule.aliases, **rule.subject}


def _cost_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    if rule.view != "wire":
        return
    for name, alias in sorted(rule.aliases.items()):
        costly = [path for path, pattern in alias.conditions if _reads_text(path, pattern)]
        if is_delta(alias) and costly:
            message = f"event {name!r} has a pattern on {costly[0]}: it costs every delta"
            yield "warning", _form_value(rule, node).error(message)


def _reads_text(path: str, pattern: Any) -> bool:
    absence = isinstance(pattern, Mapping) and set(pattern) == {"absent"}
    return _TEXT_PATH.fullmatch(path) is not None and not absence


def _form_value(rule: Rule, node: Node) -> Node:
    """The value of the rule's form, where its events are named."""
    return node.required(rule.form.key)
