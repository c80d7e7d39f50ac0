"""Faults behind the projection of Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire import DONE, Wire
from .defect import Scene
from .wires import Source, fields


def _choice(wire: Wire) -> Mapping[str, Any]:
    choices = fields(wire).get("choices") or [{}]
    choice: Mapping[str, Any] = choices[0]
    return choice


def is_done(wire: Wire) -> bool:
    return wire.data == DONE


def is_finish(wire: Wire) -> bool:
    """The chunk with the finish reason."""
    return bool(_choice(wire).get("finish_reason"))


def with_role(payload: dict[str, Any]) -> None:
    """Say the role in a chunk once more."""
    choices = [dict(choice) for choice in payload["choices"]]
    for choice in choices:
        choice["delta"] = {"role": "assistant", **choice["delta"]}
    payload["choices"] = choices


async def role_on_every_chunk(wires: Source, scene: Scene) -> Source:
    """Every chunk with a choice says the role."""
    del scene
    async for wire in wires:
        payload = fields(wire)
        if payload.get("choices"):
            with_role(payload)
            yield Wire(payload, wire.event)
        else:
            yield wire


async def wrap_unclosed(wires: Source, scene: Scene) -> Source:
    """Thinking that was wrapped is never closed by its marker."""
    async for wire in wires:
        if _choice(wire).get("delta", {}).get("content") != scene.markers[1]:
            yield wire


async def tool_id_repeated(wires: Source, scene: Scene) -> Source:
    """Every fragment of a call repeats its id."""
    del scene
    known = ""
    async for wire in wires:
        calls = _choice(wire).get("delta", {}).get("tool_calls")
        if not calls:
            yield wire
            continue
        known = calls[0].get("id", known)
        payload = fields(wire)
        choice = {**payload["choices"][0], "delta": {"tool_calls": [{**calls[0], "id": known}]}}
        yield Wire({**payload, "choices": [choice]}, wire.event)
