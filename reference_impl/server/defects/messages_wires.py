"""Faults behind the projection of Messages."""

from __future__ import annotations

from typing import Any

from ..wire import Wire
from .defect import Scene
from .wires import Claim, Source, fields


def is_delta(kind: str) -> Claim:
    """Deltas of a content block."""
    return lambda wire: fields(wire).get("delta", {}).get("type") == kind


def unsigned(payload: dict[str, Any]) -> None:
    payload["delta"] = {**payload["delta"], "signature": ""}


async def start_per_chunk(wires: Source, scene: Scene) -> Source:
    """Every delta of thinking has a block of its own; only the last one is signed."""
    del scene
    shift, begun = 0, False
    async for wire in wires:
        payload = fields(wire)
        if "index" in payload:
            payload["index"] += shift
        if payload.get("delta", {}).get("type") == "thinking_delta":
            if begun:
                index = payload["index"]
                yield _event("content_block_stop", {"index": index})
                block = {"type": "thinking", "thinking": "", "signature": ""}
                yield _event("content_block_start", {"index": index + 1, "content_block": block})
                shift += 1
                payload["index"] += 1
            begun = True
        yield wire if isinstance(wire.data, str) else Wire(payload, wire.event)


async def start_holds_text(wires: Source, scene: Scene) -> Source:
    """The start of a block already holds the text that its first delta brings."""
    del scene
    held: dict[str, Any] | None = None
    async for wire in wires:
        if wire.event == "content_block_start":
            held = fields(wire)
        elif held is not None and wire.event != "ping":
            block, delta = held["content_block"], fields(wire).get("delta", {})
            known = {name: delta[name] for name in ("text", "thinking") if name in delta}
            yield Wire({**held, "content_block": {**block, **known}}, "content_block_start")
            yield wire
            held = None
        elif held is None:
            yield wire


async def two_blocks_open(wires: Source, scene: Scene) -> Source:
    """A block stops only when the next one has started."""
    del scene
    held: Wire | None = None
    async for wire in wires:
        if held is not None and wire.event != "content_block_start":
            yield held
            held = None
        if wire.event == "content_block_stop":
            held = wire
            continue
        yield wire
        if held is not None:
            yield held
            held = None


def _event(kind: str, payload: dict[str, Any]) -> Wire:
    return Wire({"type": kind, **payload}, kind)
