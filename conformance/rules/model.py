"""A suite of rules as frozen values, free of behaviour. `load` makes them, `engine` judges by them.

A rule names events; `Alias` says which events a name stands for. Names, paths and values are
still data here: `patterns` compiles them once a profile's knobs are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.core.errors import Place
from conformance.core.events import Layer
from conformance.rules.grammar import Node
from conformance.rules.verdicts import Level

Are = Literal["constant", "distinct", "contiguous", "rising"]
With = Literal["concat", "list", "count", "sum", "json"]
Gather = Literal["concat", "sum", "count", "merged"]
Relation = Literal["equal", "contains", "greater"]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for events: their type (constant, list, or another pattern) and conditions."""

    name: str
    type: Any
    conditions: tuple[tuple[str, Any], ...] = ()
    layer: Layer | None = None
    place: Place | None = None

    @property
    def types(self) -> tuple[str, ...]:
        """The types it can have; empty where only a pattern tells."""
        if isinstance(self.type, str):
            return (self.type,)
        if isinstance(self.type, list | tuple) and all(isinstance(t, str) for t in self.type):
            return tuple(self.type)
        return ()

    def describe(self) -> str:
        """For findings: the wire type rather than the local name."""
        kind = " | ".join(self.types) or self.name
        if not self.conditions:
            return kind
        return f"{kind} ({', '.join(f'{path} {_spell(v)}' for path, v in self.conditions)})"


def _spell(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_spell(each)}".strip() for key, each in value.items())
    if isinstance(value, list | tuple):
        return " or ".join(_spell(each) for each in value)
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Grammar:
    root: Node
    text: str


@dataclass(frozen=True, slots=True)
class Never:
    events: tuple[str, ...]
    after: tuple[str, ...] = ()
    until: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Form `response`: every `when` has its `then`, at the latest before `before`."""

    then: tuple[str, ...]
    when: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Values:
    """`paths` maps an event name to the path of the field that is looked at."""

    paths: Mapping[str, str]
    are: Are
    start: Any = None


@dataclass(frozen=True, slots=True)
class Each:
    events: tuple[str, ...]
    schema: Any


@dataclass(frozen=True, slots=True)
class Stated:
    """Where a fold's value is stated: a field of a later event, less volatile fields."""

    events: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """`lacks` another fold: its text of at least `at_least` characters."""

    paths: Mapping[str, str]
    at_least: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Collect `paths` (event name -> path) `how`, then compare in exactly one way."""

    paths: Mapping[str, str]
    how: With
    order: str | None = None
    minus: Any = ()
    equals: Stated | None = None
    contains: Stated | None = None
    lacks: Any = None  # marker list (or $knob), or Overlap
    matches: str | None = None
    at_least: Any = None
    grows: bool | None = None
    at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds. `largest_gap` between events, or `to` within `within` after `start`."""

    events: tuple[str, ...]
    largest_gap: float | None = None
    start: tuple[str, ...] = ()
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: which exchange or view, and what is collected from it.

    `merged` lists the events themselves, adjacent deltas joined, without numbers and blocks.
    """

    paths: Mapping[str, str]
    how: Gather
    role: str = ""
    hop: str = ""
    view: Literal["wire", "client"] = "wire"


@dataclass(frozen=True, slots=True)
class Compare:
    left: Side
    right: Side
    are: Relation


Form = Grammar | Never | Answer | Values | Each | Fold | Timing | Compare


@dataclass(frozen=True, slots=True)
class Applies:
    """When a rule speaks at all; each a tuple of (path, pattern value)."""

    request: tuple[tuple[str, Any], ...] = ()
    response: tuple[tuple[str, Any], ...] = ()
    profile: tuple[tuple[str, Any], ...] = ()
    user_choices: tuple[tuple[str, Any], ...] = ()
    view: Literal["wire", "client"] = "wire"


@dataclass(frozen=True, slots=True)
class Rule:
    """One checkable fact. `source` entries have keys spec, quote, observed, breaks, advice."""

    id: str
    level: Level
    says: str
    source: tuple[Mapping[str, str], ...]
    since: str
    form: Form
    aliases: Mapping[str, Alias]
    place: Place
    slice: tuple[str, ...] = ()
    scope: Literal["exchange", "scenario"] = "exchange"
    applies: Applies = field(default_factory=Applies)
    dialect: str | None = None
    hint: str = ""
    fix: str = ""

    @property
    def view(self) -> str:
        return self.applies.view


@dataclass(frozen=True, slots=True)
class Suite:
    """A YAML file of rules that share events."""

    id: str
    title: str
    dialect: str | None
    rules: tuple[Rule, ...]
    file: str
