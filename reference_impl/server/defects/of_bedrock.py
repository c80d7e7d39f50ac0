"""Defects of Converse alone: events of blocks that are lost, doubled or filled wrongly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from ..wire import Wire
from .defect import Defect, Scene, WireHook
from .wires import Claim, Source, doubled, edited, fields, lost, named

_DELTA: Final = "contentBlockDelta"
_REASONING: Final = "reasoningContent"


def _reasons(*keys: str) -> Claim:
    """Deltas of reasoning that have one of these."""
    return lambda wire: any(_delta(wire).get(_REASONING, {}).get(key) for key in keys)


def _delta(wire: Wire) -> dict[str, Any]:
    return dict(fields(wire).get("delta", {})) if wire.event == _DELTA else {}


def _of_streams(hook: WireHook) -> WireHook:
    """The hook, where no body is put together of what it gives."""
    return lambda wires, scene: hook(wires, scene) if scene.streams else wires


def _nested(payload: dict[str, Any]) -> None:
    text = payload["delta"][_REASONING]["text"]
    payload["delta"] = {_REASONING: {"reasoningText": {"text": text}}}


def _unsigned(payload: dict[str, Any]) -> None:
    payload["delta"] = {_REASONING: {"signature": ""}}


async def _announced(wires: Source, scene: Scene) -> Source:
    """Every block is announced, as other APIs do."""
    del scene
    begun: set[int] = set()
    async for wire in wires:
        index = fields(wire).get("contentBlockIndex")
        if wire.event == _DELTA and index not in begun:
            yield Wire({"contentBlockIndex": index, "start": {}}, "contentBlockStart")
        if index is not None:
            begun.add(index)
        yield wire


async def _stops_late(wires: Source, scene: Scene) -> Source:
    """A block stops when something of the next one has come."""
    del scene
    held: Wire | None = None
    async for wire in wires:
        if wire.event == "contentBlockStop" and held is None:
            held = wire
            continue
        if held is not None and wire.event == "messageStop":
            yield held
            held = None
        yield wire
        if held is not None:
            yield held
            held = None


async def _miscounted(frames: AsyncIterator[bytes], scene: Scene) -> AsyncIterator[bytes]:
    """The checksum of every message is that of another one."""
    del scene
    async for frame in frames:
        yield frame[:-1] + bytes([frame[-1] ^ 1])


OF_BEDROCK: Final = (
    Defect(
        "reasoning-unsigned",
        "the signature of reasoning is lost",
        {
            "bedrock": (
                "history/converse/signature-present",
                "wire/converse-blocks/body-reasoning-signed",
                "wire/converse-blocks/signature-present",
            )
        },
        wires=lost(_reasons("signature")),
        live=("scenario/ending",),
    ),
    Defect(
        "reasoning-signed-with-nothing",
        "the signature of reasoning is empty",
        {
            "bedrock": (
                "history/converse/signature-present",
                "wire/converse-blocks/body-reasoning-signed",
                "wire/converse-blocks/signature-filled",
            )
        },
        wires=edited(_reasons("signature"), _unsigned),
        live=("scenario/ending",),
    ),
    Defect(
        "reasoning-emptied",
        "deltas of reasoning are lost, and their block stops",
        {"bedrock": ("wire/converse-blocks/block-not-empty",)},
        wires=lost(_reasons("text", "signature")),
        live=("scenario/thinking",),
    ),
    Defect(
        "reasoning-nested",
        "deltas of reasoning have the form of a body",
        {
            "bedrock": (
                "history/converse/text-unchanged",
                "stripping/opt-in/stream-thinks-as-body",
                "wire/converse-blocks/delta-is-flat",
            )
        },
        wires=_of_streams(edited(_reasons("text"), _nested)),
    ),
    Defect(
        "reasoning-signed-twice",
        "reasoning is signed twice",
        {"bedrock": ("wire/converse-blocks/signature-once",)},
        wires=doubled(_reasons("signature")),
        live=("scenario/ending",),
    ),
    Defect(
        "every-block-announced",
        "blocks of text and reasoning are announced",
        {"bedrock": ("wire/converse-blocks/start-known",)},
        wires=_of_streams(_announced),
    ),
    Defect(
        "block-stops-late",
        "a block stops when something of the next one has come",
        {"bedrock": ("wire/converse-blocks/blocks-serial",)},
        wires=_stops_late,
    ),
    Defect(
        "reason-left-out",
        "nothing says why the message stopped",
        {
            "bedrock": (
                "wire/converse/body-fields",
                "wire/converse/stop-present",
                "wire/converse/stop-reason",
            )
        },
        wires=lost(named("messageStop")),
        live=("scenario/ending",),
    ),
    Defect(
        "reason-twice",
        "the reason is sent twice",
        {"bedrock": ("wire/converse/stop-once",)},
        wires=doubled(named("messageStop")),
    ),
    Defect(
        "wrong-checksums",
        "the checksum of a message is that of another one",
        {
            "bedrock": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "wire/binary/checksums",
                "wire/converse/answer-present",
            )
        },
        frames=_miscounted,
        live=("scenario/ending",),
    ),
)
