"""Faults behind the projections: what is alike for all APIs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from ..wire import Wire
from .defect import Scene, WireHook

Source = AsyncIterator[Wire]
Claim = Callable[[Wire], bool]
Edit = Callable[[dict[str, Any]], None]


def fields(wire: Wire) -> dict[str, Any]:
    """The payload, open to changes."""
    return {} if isinstance(wire.data, str) else dict(wire.data)


def named(*types: str) -> Claim:
    """Events of these types."""
    return lambda wire: wire.event in types


def lost(claim: Claim) -> WireHook:
    """Events that are never sent; sequence numbers close up, so that nothing else is wrong."""

    async def hook(wires: Source, scene: Scene) -> Source:
        del scene
        missing = 0
        async for wire in wires:
            if claim(wire):
                missing += 1
            else:
                yield moved(wire, -missing)

    return hook


def doubled(claim: Claim) -> WireHook:
    """Events that are sent twice; sequence numbers make room."""

    async def hook(wires: Source, scene: Scene) -> Source:
        del scene
        extra = 0
        async for wire in wires:
            yield moved(wire, extra)
            if claim(wire):
                extra += 1
                yield moved(wire, extra)

    return hook


def edited(claim: Claim, edit: Edit) -> WireHook:
    """Events whose payload is filled otherwise."""

    async def hook(wires: Source, scene: Scene) -> Source:
        del scene
        async for wire in wires:
            if claim(wire):
                payload = fields(wire)
                edit(payload)
                yield Wire(payload, wire.event)
            else:
                yield wire

    return hook


def moved(wire: Wire, by: int) -> Wire:
    payload = fields(wire)
    if not by or "sequence_number" not in payload:
        return wire
    return Wire({**payload, "sequence_number": payload["sequence_number"] + by}, wire.event)


def without_usage(payload: dict[str, Any]) -> None:
    """State no usage, wherever this API states it."""
    if "response" in payload:
        payload["response"] = {**payload["response"], "usage": None}
    else:
        payload.pop("usage", None)


def is_chat_usage(wire: Wire) -> bool:
    payload = fields(wire)
    return payload.get("choices") == [] and bool(payload.get("usage"))


async def usage_missing(wires: Source, scene: Scene) -> Source:
    """Usage is not stated, wherever this API states it."""
    del scene
    async for wire in wires:
        if is_chat_usage(wire):
            continue
        payload = fields(wire)
        if "usage" in payload or payload.get("response", {}).get("usage"):
            without_usage(payload)
            yield Wire(payload, wire.event)
        else:
            yield wire
