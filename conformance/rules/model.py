"""A suite of rules as frozen values, free of behaviour. `load` makes them, `judge` judges by them.

A rule names events; `Alias` says which events a name stands for. Names, paths and values are
still data here: `compiled` makes them ready once a profile's knobs are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from conformance.core.errors import Place
from conformance.rules.alias import Alias
from conformance.rules.forms.base import Form
from conformance.rules.stream_example import StreamExample
from conformance.rules.verdicts import Level

Scope = Literal["answer", "connection", "scenario"]


class Applies(Struct, frozen=True):
    """When a rule speaks at all; each a tuple of (path, pattern value).

    `stated` looks at what an answer says of itself as a whole: its echo of the request, its date.
    """

    request: tuple[tuple[str, Any], ...] = ()
    response: tuple[tuple[str, Any], ...] = ()
    stated: tuple[tuple[str, Any], ...] = ()
    profile: tuple[tuple[str, Any], ...] = ()
    user_choices: tuple[tuple[str, Any], ...] = ()
    view: Literal["wire", "client"] = "wire"

    def of_exchange(self) -> tuple[Any, ...]:
        """The patterns that look at the exchange."""
        conditions = (*self.request, *self.response, *self.stated, *self.user_choices)
        return tuple(pattern for _, pattern in conditions)


class Rule(Struct, frozen=True):
    """One checkable fact. `source` entries have keys spec, quote, observed, breaks, advice.

    A rule that ships has a source; one of a user's own may have none.

    It passes only if its `subject` was there: one of these events, or, where it names none, what
    its form takes for the subject. It judges its `dialects`, or every one where it names none.
    Its slices begin anew with each answer, or, by its `scope`, go on over all answers of a
    connection, or over all exchanges of a scenario.
    """

    id: str
    level: Level
    says: str
    source: tuple[Mapping[str, str], ...]
    since: str
    form: Form
    aliases: Mapping[str, Alias]
    place: Place
    slice: tuple[str, ...] = ()
    subject: Mapping[str, Alias] = field(default_factory=dict)
    scope: Scope = "answer"
    applies: Applies = field(default_factory=Applies)
    dialects: tuple[str, ...] = ()
    hint: str = ""
    fix: str = ""
    examples: tuple[StreamExample, ...] = ()

    @property
    def view(self) -> str:
        return self.applies.view

    def judges(self, dialect: str) -> bool:
        return not self.dialects or dialect in self.dialects


class Suite(Struct, frozen=True):
    """A YAML file of rules that share events."""

    id: str
    title: str
    dialects: tuple[str, ...]
    rules: tuple[Rule, ...]
    file: str
