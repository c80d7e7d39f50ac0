"""Hooks that need no code of their own: events that are lost, doubled, or filled otherwise.

A claim says which events are meant: all that its fields ask for must hold.
`event` names the types, `data` is a payload that is no object, `has` and `any` are dotted paths at
which something stands, `where` says what stands there. A number in a path is a place in a list.
An edit sets (`put`), empties (`null`) or leaves out (`drop`) what stands at a path.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from ..wire import Wire
from .defect import Scene, WireHook, each

Source = AsyncIterator[Wire]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which events are meant."""

    event: tuple[str, ...] = ()
    data: str = ""
    has: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    where: dict[str, Any] = {}

    def holds(self, wire: Wire) -> bool:
        payload = fields(wire)
        return (
            (not self.event or wire.event in self.event)
            and (not self.data or wire.data == self.data)
            and all(value_at(payload, path) for path in self.has)
            and (not self.any or any(value_at(payload, path) for path in self.any))
            and all(value_at(payload, path) == value for path, value in self.where.items())
        )


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The edit of an event."""

    claim: Claim
    put: dict[str, Any] = {}
    null: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    event: str = ""

    def apply(self, wire: Wire) -> Wire:
        payload: Any = fields(wire)
        emptied = {**dict.fromkeys(self.null), **dict.fromkeys(self.drop, msgspec.UNSET)}
        for path, value in {**self.put, **emptied}.items():
            payload = changed(payload, path.split("."), value)
        return Wire(payload, self.event or wire.event)


def fields(wire: Wire) -> dict[str, Any]:
    """The payload, open to changes."""
    return {} if isinstance(wire.data, str) else dict(wire.data)


def value_at(value: Any, path: str) -> Any:
    """Return the value at a dotted path, None where there is none."""
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def changed(value: Any, path: list[str], new: Any) -> Any:
    """A copy with something else at a path; UNSET leaves it out."""
    if not path:
        return new
    name, *rest = path
    if isinstance(value, list):
        inner = changed(value[int(name)], rest, new)
        return [inner if at == int(name) else each for at, each in enumerate(value)]
    inner = changed(value.get(name), rest, new)
    copy = {**value, name: inner}
    if inner is msgspec.UNSET:
        del copy[name]
    return copy


def moved(wire: Wire, by: int) -> Wire:
    """The event with another sequence number, if it has one."""
    payload = fields(wire)
    if not by or "sequence_number" not in payload:
        return wire
    return Wire({**payload, "sequence_number": payload["sequence_number"] + by}, wire.event)


def lost(claim: Claim) -> WireHook:
    """Events that are never sent; sequence numbers close up, so that nothing else is wrong."""

    async def hook(wires: Source, _: Scene) -> Source:
        missing = 0
        async for wire in wires:
            if claim.holds(wire):
                missing += 1
            else:
                yield moved(wire, -missing)

    return hook


def doubled(claim: Claim) -> WireHook:
    """Events that are sent twice; sequence numbers make room."""

    async def hook(wires: Source, _: Scene) -> Source:
        extra = 0
        async for wire in wires:
            yield moved(wire, extra)
            if claim.holds(wire):
                extra += 1
                yield moved(wire, extra)

    return hook


def edited(edit: Edit) -> WireHook:
    """Events that are filled otherwise."""
    return each(lambda wire: (edit.apply(wire) if edit.claim.holds(wire) else wire,))
