"""The events that a name in a rule stands for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from conformance.core.errors import Place
from conformance.core.events import Layer


class Alias(Struct, frozen=True, dict=True):
    """A name for events: their type (constant, list, or another pattern) and conditions."""

    name: str
    type: Any
    conditions: tuple[tuple[str, Any], ...] = ()
    layer: Layer | None = None
    place: Place | None = None

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
        kind = " | ".join(self.types) or self.name
        if not self.conditions:
            return kind
        return f"{kind} ({', '.join(f'{path} {_spell(v)}' for path, v in self.conditions)})"


def _spell(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_spell(each)}".strip() for key, each in value.items())
    if isinstance(value, list | tuple):
        return " or ".join(_spell(each) for each in value)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) or '""'
