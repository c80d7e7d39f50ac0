"""Faults of wire events that need code: each function is the defect of its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ..wire import DONE, Wire
from .defect import Scene, WireHook, each
from .edits import Source, fields, moved, value_at

Payload = dict[str, Any]


def _remembering(edit: Callable[[Payload, Payload], Payload | None]) -> WireHook:
    """A fault of one payload at a time, with what it keeps of a stream; None: not meant."""

    async def hook(wires: Source, _: Scene) -> Source:
        memory: Payload = {}
        async for wire in wires:
            payload = edit(fields(wire), memory)
            yield wire if payload is None else Wire(payload, wire.event)

    return hook


def _each_payload(edit: Callable[[Payload], Payload | None]) -> WireHook:
    """As `_remembering`, with nothing kept."""
    return _remembering(lambda payload, _: edit(payload))


def _each_part(edit: Callable[[Payload], Payload]) -> WireHook:
    """A fault of every part of a chunk of generateContent."""
    return _each_payload(lambda payload: _with_parts(payload, map(edit, _parts_of_chunk(payload))))


def _number_of_event(memory: Payload) -> int:
    """How many events there were with this one."""
    memory["events"] = memory.get("events", 0) + 1
    return int(memory["events"])


def _payload_with(payload: Payload, key: str, **more: Any) -> Payload:
    return {**payload, key: {**payload[key], **more}}


# Whatever the API


async def usage_missing(wires: Source, _: Scene) -> Source:
    """Usage is not stated, wherever an API states it."""
    async for wire in wires:
        payload = fields(wire)
        if value_at(payload, "response.usage"):
            yield Wire(_payload_with(payload, "response", usage=None), wire.event)
        elif payload.get("choices") != [] or not payload.pop("usage", None):
            without = {key: payload[key] for key in payload if key != "usage"}
            yield wire if without == payload else Wire(without, wire.event)


# Chat Completions


async def wrap_unclosed(wires: Source, scene: Scene) -> Source:
    """Thinking that was wrapped is never closed by its marker."""
    async for wire in wires:
        if value_at(wire.data, "choices.0.delta.content") != scene.markers[1]:
            yield wire


@_each_payload
def role_on_every_chunk(payload: Payload) -> Payload | None:
    """Every chunk with a choice says the role."""
    choices = [
        {**choice, "delta": {"role": "assistant", **choice["delta"]}}
        for choice in payload.get("choices", ())
    ]
    return {**payload, "choices": choices} if choices else None


@_remembering
def tool_id_repeated(payload: Payload, memory: Payload) -> Payload | None:
    """Every fragment of a call repeats its id."""
    call = value_at(payload, "choices.0.delta.tool_calls.0")
    if not call:
        return None
    memory["id"] = call.get("id", memory.get("id", ""))
    choice = {**payload["choices"][0], "delta": {"tool_calls": [{**call, **memory}]}}
    return {**payload, "choices": [choice]}


# Responses


@_remembering
def item_id_changes(payload: Payload, memory: Payload) -> Payload | None:
    """Every event of an item carries another id than the one before."""
    number, named = _number_of_event(memory), payload.get("item_id")
    return None if named is None else {**payload, "item_id": f"{named}-{number}"}


@each
def sequence_gap(wire: Wire) -> Iterator[Wire]:
    """A sequence number is left out after the third event."""
    yield moved(wire, 1) if fields(wire).get("sequence_number", 0) > 2 else wire


@_remembering
def content_index_grows(payload: Payload, memory: Payload) -> Payload | None:
    """Every delta of a content part has the next index."""
    if "content_index" not in payload or "delta" not in payload:
        return None
    return {**payload, "content_index": _number_of_event(memory) - 1}


@_remembering
def summary_delta_cumulative(payload: Payload, memory: Payload) -> Payload | None:
    """Every delta of a summary repeats its part so far."""
    if payload.get("type") == "response.reasoning_summary_part.added":
        memory.clear()
    if payload.get("type") != "response.reasoning_summary_text.delta":
        return None
    memory["delta"] = memory.get("delta", "") + payload["delta"]
    return {**payload, **memory}


# Messages


async def start_per_chunk(wires: Source, _: Scene) -> Source:
    """Every delta of thinking has a block of its own; only the last one is signed."""
    shift, begun = 0, False
    async for wire in wires:
        payload = fields(wire)
        if "index" in payload:
            payload["index"] += shift
        if value_at(payload, "delta.type") == "thinking_delta":
            if begun:
                for each in _next_block(payload["index"]):
                    yield each
                shift += 1
                payload["index"] += 1
            begun = True
        yield wire if isinstance(wire.data, str) else Wire(payload, wire.event)


def _next_block(index: int) -> Iterator[Wire]:
    block = {"type": "thinking", "thinking": "", "signature": ""}
    for kind, more in (
        ("content_block_stop", {"index": index}),
        ("content_block_start", {"index": index + 1, "content_block": block}),
    ):
        yield Wire({"type": kind, **more}, kind)


async def start_holds_text(wires: Source, _: Scene) -> Source:
    """The start of a block already holds the text that its first delta brings."""
    held: Payload | None = None
    async for wire in wires:
        if wire.event == "content_block_start":
            held = fields(wire)
        elif held is not None and wire.event != "ping":
            delta = fields(wire).get("delta", {})
            known = {name: delta[name] for name in ("text", "thinking") if name in delta}
            yield Wire(_payload_with(held, "content_block", **known), "content_block_start")
            yield wire
            held = None
        elif held is None:
            yield wire


def _late_stop(stops: str, until: str, *, behind: bool) -> WireHook:
    """A block stops only when something of the next one has come, at the latest `until`."""

    async def hook(wires: Source, _: Scene) -> Source:
        held: Wire | None = None
        async for wire in wires:
            if held is not None and (wire.event == until) != behind:
                yield held
                held = None
            if wire.event == stops and held is None:
                held = wire
                continue
            yield wire
            if held is not None:
                yield held
                held = None

    return hook


two_blocks_open = _late_stop("content_block_stop", "content_block_start", behind=True)
block_stops_late = _late_stop("contentBlockStop", "messageStop", behind=False)


# Ollama


@_each_payload
def arguments_as_text(payload: Payload) -> Payload | None:
    """The arguments of a call are the text that the model wrote."""
    given = value_at(payload, "message.tool_calls")
    if not given:
        return None
    calls = [
        _payload_with(call, "function", arguments=json.dumps(call["function"]["arguments"]))
        for call in given
    ]
    return _payload_with(payload, "message", tool_calls=calls)


# generateContent


def _parts_of_chunk(payload: Payload) -> list[Payload]:
    parts: list[Payload] = value_at(payload, "candidates.0.content.parts") or []
    return parts


def _with_parts(payload: Payload, parts: Any) -> Payload | None:
    """The chunk with other parts; None for what is no chunk."""
    if not payload.get("candidates"):
        return None
    (candidate,) = payload["candidates"]
    return {**payload, "candidates": [_payload_with(candidate, "content", parts=list(parts))]}


@_each_part
def signature_in_snake_case(part: Payload) -> Payload:
    """Signatures are called `thought_signature`."""
    return {"thought_signature" if key == "thoughtSignature" else key: part[key] for key in part}


@_each_part
def thoughts_labelled(part: Payload) -> Payload:
    """Thoughts are text behind a label."""
    return {"text": f"THOUGHT: {part['text']}"} if part.get("thought") else part


@_each_part
def args_as_text(part: Payload) -> Payload:
    """The args of a call are a text."""
    call = part.get("functionCall")
    return part if call is None else {**part, "functionCall": {**call, "args": json.dumps(call)}}


@_each_payload
def total_without_thoughts(payload: Payload) -> Payload | None:
    """The total is that of an API that counts thoughts as part of the answer."""
    if not value_at(payload, "candidates.0.finishReason"):
        return None
    usage = payload["usageMetadata"]
    total = usage["totalTokenCount"] - usage.get("thoughtsTokenCount", 0)
    return _payload_with(payload, "usageMetadata", totalTokenCount=total)


@_remembering
def response_changes(payload: Payload, memory: Payload) -> Payload:
    """Every chunk is of a response of its own."""
    return {**payload, "responseId": f"{payload.get('responseId')}{_number_of_event(memory)}"}


@_remembering
def signature_on_every_part(payload: Payload, memory: Payload) -> Payload | None:
    """The signature of a call stands on every part that comes after it, too."""
    for part in _parts_of_chunk(payload):
        memory.update({key: part[key] for key in ("thoughtSignature",) if key in part})
    signed = ({**part, **memory} for part in _parts_of_chunk(payload))
    return _with_parts(payload, signed) if memory.get("thoughtSignature") else None


@_remembering
def thoughts_unasked(payload: Payload, memory: Payload) -> Payload | None:
    """An answer begins with a thought, whether it was asked for or not."""
    thinking = [{"text": "Hm.", "thought": True}, *_parts_of_chunk(payload)]
    changed = None if memory else _with_parts(payload, thinking)
    memory.update(changed or {})
    return changed


async def sentinel_added(wires: Source, scene: Scene) -> Source:
    """A stream ends as that of Chat Completions."""
    async for wire in wires:
        yield wire
    if scene.streams:
        yield Wire(DONE)


# Converse; no body is put together of what these two give


async def reasoning_nested(wires: Source, scene: Scene) -> Source:
    """Deltas of reasoning have the form of a body."""
    async for wire in wires:
        text = value_at(wire.data, "delta.reasoningContent.text")
        if text and scene.streams:
            nested = {"reasoningContent": {"reasoningText": {"text": text}}}
            yield Wire({**fields(wire), "delta": nested}, wire.event)
        else:
            yield wire


async def every_block_announced(wires: Source, scene: Scene) -> Source:
    """Every block is announced, as other APIs do."""
    begun: set[int] = set()
    async for wire in wires:
        index = fields(wire).get("contentBlockIndex")
        if scene.streams and wire.event == "contentBlockDelta" and index not in begun:
            yield Wire({"contentBlockIndex": index, "start": {}}, "contentBlockStart")
        if index is not None:
            begun.add(index)
        yield wire
