"""Which fields of which events a rule reads, and whether a profile can change what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.rules.alias import Alias
from conformance.rules.forms.each import Each
from conformance.rules.model import Rule
from conformance.rules.patterns import fields_named, is_of_exchange, references

_ELEMENTS: Final = ("items", "additionalProperties", "contains")
_CONDITIONS: Final = ("if", "then", "else", "not")
_CHOICES: Final = ("allOf", "anyOf", "oneOf")


class ReadFields(Struct, frozen=True):
    """Dotted paths by type of event; `anywhere` those in events that only a pattern names.

    An empty path is an event's whole data.
    """

    by_type: Mapping[str, frozenset[str]]
    anywhere: frozenset[str] = frozenset()

    def of(self, kind: str) -> frozenset[str]:
        """The paths in events of one type."""
        return self.by_type.get(kind, frozenset()) | self.anywhere

    def reads(self, kind: str, path: str) -> bool:
        """Whether the value at `path`, below it or around it is read."""
        return any(_is_related(each, path) for each in self.of(kind))


def fields_read(rule: Rule) -> ReadFields:
    """What a rule reads of the events that it names; a grammar reads their conditions alone."""
    named = {**rule.aliases, **rule.subject}
    by_type: dict[str, set[str]] = {}
    anywhere: set[str] = set()
    for name, path in _named_paths(rule, named):
        for kind in named[name].types:
            by_type.setdefault(kind, set()).add(path)
        if not named[name].types:
            anywhere.add(path)
    fields = {kind: frozenset(paths) for kind, paths in by_type.items()}
    return ReadFields(fields, frozenset(anywhere))


def knobs_read(rule: Rule) -> frozenset[str]:
    """Names of what a profile says that the rule hangs on."""
    patterns = [value for alias in rule.aliases.values() for _, value in alias.conditions]
    patterns += [*rule.applies.of_exchange(), *(value for _, value in rule.applies.profile)]
    patterns += rule.form.knob_values()
    named = {name for pattern in patterns for name in references(pattern)}
    own = frozenset(name for name in named if not is_of_exchange(name))
    return own | {path for path, _ in rule.applies.profile}


def reads_meaning(rule: Rule) -> bool:
    """Whether it reads semantic events: a profile says how they follow from the bytes."""
    return any(alias.layer == "semantic" for alias in rule.aliases.values())


def values_at(event: Event, path: str) -> Iterator[object]:
    yield from _spread_values(event.data, path.split(".") if path else [])


def _named_paths(rule: Rule, named: Mapping[str, Alias]) -> Iterator[tuple[str, str]]:
    for name, alias in named.items():
        for path, pattern in alias.conditions:
            yield name, path
            yield from ((name, other) for other in fields_named(pattern))
    yield from rule.form.paths()
    if isinstance(rule.form, Each):
        yield from product(rule.form.events, _schema_paths(rule.form.schema))


def _schema_paths(schema: object, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Where the fields stand of which a JSON Schema says something."""
    parts = schema if isinstance(schema, Mapping) else {}
    inner = [(each, (*path, name)) for name, each in parts.get("properties", {}).items()]
    inner += [(parts[key], (*path, "*")) for key in _ELEMENTS if key in parts]
    inner += [(parts[key], path) for key in _CONDITIONS if key in parts]
    inner += [(each, path) for key in _CHOICES for each in parts.get(key, ())]
    for each, where in inner:
        yield from _schema_paths(each, where)
    if not inner:
        yield ".".join(path)


def _is_related(one: str, other: str) -> bool:
    pairs = zip(one.split("."), other.split("."), strict=False)
    return not (one and other) or all(a == b or "*" in (a, b) for a, b in pairs)


def _spread_values(value: object, path: list[str]) -> Iterator[object]:
    if isinstance(value, Mapping):
        names = value.keys() if not path or path[0] == "*" else path[:1]
        inner = [value[name] for name in names if name in value]
    elif isinstance(value, list | tuple):
        is_place = bool(path) and path[0].isdecimal()
        inner = list(value[int(path[0]) :][:1]) if is_place else list(value)
    else:
        if not path:
            yield value
        return
    for each in inner:
        yield from _spread_values(each, path[1:])
