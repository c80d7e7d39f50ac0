"""Faults behind the projection of Responses."""

from __future__ import annotations

from typing import Any

from ..wire import Wire
from .defect import Scene
from .wires import Claim, Source, fields, moved


def is_item(*types: str, at: str = "added") -> Claim:
    """Announcements, or ends, of items of these types."""

    def claim(wire: Wire) -> bool:
        item = fields(wire).get("item", {})
        return wire.event == f"response.output_item.{at}" and item.get("type") in types

    return claim


def is_summary(wire: Wire) -> bool:
    """Events of a summary."""
    return wire.event.startswith("response.reasoning_summary_")


def emptied_output(payload: dict[str, Any]) -> None:
    payload["response"] = {**payload["response"], "output": []}


def as_completed(payload: dict[str, Any]) -> None:
    """Sell an incomplete response as a complete one."""
    response = {**payload["response"], "status": "completed", "incomplete_details": None}
    payload |= {"type": "response.completed", "response": response}


async def completed_on_cut(wires: Source, scene: Scene) -> Source:
    """A response that ran out of tokens closes as completed; its item stays incomplete."""
    del scene
    async for wire in wires:
        if wire.event == "response.incomplete":
            payload = fields(wire)
            as_completed(payload)
            yield Wire(payload, "response.completed")
        else:
            yield wire


async def index_reuse(wires: Source, scene: Scene) -> Source:
    """Every item is announced, and goes on, at the index of the first."""
    del scene
    async for wire in wires:
        payload = fields(wire)
        yield (
            Wire({**payload, "output_index": 0}, wire.event) if "output_index" in payload else wire
        )


async def sequence_gap(wires: Source, scene: Scene) -> Source:
    """A sequence number is left out after the third event."""
    del scene
    async for wire in wires:
        payload = fields(wire)
        yield moved(wire, 1) if payload.get("sequence_number", 0) > 2 else wire


async def item_id_changes(wires: Source, scene: Scene) -> Source:
    """Every event of an item carries another id than the one before."""
    del scene
    number = 0
    async for wire in wires:
        payload = fields(wire)
        number += 1
        if "item_id" in payload:
            yield Wire({**payload, "item_id": f"{payload['item_id']}-{number}"}, wire.event)
        else:
            yield wire


async def content_index_grows(wires: Source, scene: Scene) -> Source:
    """Every delta of a content part has the next index."""
    del scene
    number = 0
    async for wire in wires:
        payload = fields(wire)
        if "content_index" in payload and "delta" in payload:
            payload["content_index"] = number
            number += 1
            yield Wire(payload, wire.event)
        else:
            yield wire


async def summary_cumulative(wires: Source, scene: Scene) -> Source:
    """Every delta of a summary repeats its part so far."""
    del scene
    text = ""
    async for wire in wires:
        if wire.event == "response.reasoning_summary_part.added":
            text = ""
        if wire.event != "response.reasoning_summary_text.delta":
            yield wire
            continue
        payload = fields(wire)
        text += payload["delta"]
        yield Wire({**payload, "delta": text}, wire.event)
