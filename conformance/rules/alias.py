"""The events that a name in a rule stands for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import Place
from conformance.core.events import Layer
from conformance.rules.schema_faults import TYPE_WORDS


class Alias(Struct, frozen=True, dict=True):
    """A name for events: their type (constant, list, or another pattern) and conditions."""

    name: str
    type: Any
    conditions: tuple[tuple[str, Any], ...] = ()
    layer: Layer | None = None
    place: Place | None = None
    shown_as: str = ""  # what findings say in place of its conditions

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types it can have; empty where only a pattern shows."""
        if isinstance(self.type, str):
            return (self.type,)
        if isinstance(self.type, list | tuple) and all(isinstance(t, str) for t in self.type):
            return tuple(self.type)
        return ()

    def describe(self) -> str:
        """For findings: the wire type rather than the local name."""
        if self.shown_as:
            return self.shown_as
        kind = " | ".join(self.types) or self.name
        if not self.conditions:
            return kind
        return (
            f"{kind} ({', '.join(f'{path} {_spell_constant(v)}' for path, v in self.conditions)})"
        )


_PHRASES: Final[Mapping[str, str]] = {
    "pattern": "that matches {}",
    "minimum": "of {} or more",
    "maximum": "of {} or less",
    "minLength": "of {} characters or more",
    "maxLength": "of {} characters or less",
    "minItems": "of {} elements or more",
    "minProperties": "with {} keys or more",
    "required": "with {}",
    "const": "{}",
    "above": "more than {}",
    "field": "the same as {}",
}
"""Keywords of a pattern; any other is written as it is."""


def _spell_constant(value: Any) -> str:
    if value == {"absent": True}:
        return "absent"
    if value == {"absent": False}:
        return "present"
    if isinstance(value, Mapping):
        return " ".join(_keyword_phrase(key, each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return " or ".join(_spell_constant(each) for each in value)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) or '""'


def _keyword_phrase(keyword: str, argument: Any) -> str:
    if keyword == "type":
        kinds = [argument] if isinstance(argument, str) else argument
        return " or ".join(TYPE_WORDS.get(kind, str(kind)) for kind in kinds)
    if argument == 1 and keyword in ("minLength", "minItems", "minProperties"):
        return "that is not empty"
    phrase = _PHRASES.get(keyword)
    spelt = _spell_constant(argument)
    return f"{keyword} {spelt}".strip() if phrase is None else phrase.format(spelt)
