"""Defects of generateContent alone: parts, signatures and counts, lost or filled wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ..wire import DONE, Wire
from .defect import Defect, Scene, WireHook
from .wires import Edit, Source, edited, fields

Part = dict[str, Any]
_SIGNED: Final = "thoughtSignature"


def _is_chunk(wire: Wire) -> bool:
    return bool(fields(wire).get("candidates"))


def _is_last(wire: Wire) -> bool:
    return _is_chunk(wire) and "finishReason" in fields(wire)["candidates"][0]


def _each_part(edit: Callable[[Part], Part]) -> Edit:
    """Every part of a chunk is another one."""

    def edited_chunk(payload: dict[str, Any]) -> None:
        (candidate,) = payload["candidates"]
        parts = [edit(part) for part in candidate["content"]["parts"]]
        content = {**candidate["content"], "parts": parts}
        payload["candidates"] = [{**candidate, "content": content}]

    return edited_chunk


def _signed(signature: str, part: Part) -> Part:
    return {**part, _SIGNED: signature}


def _respelled(part: Part) -> Part:
    return {"thought_signature" if key == _SIGNED else key: part[key] for key in part}


def _labelled(part: Part) -> Part:
    return {"text": f"THOUGHT: {part['text']}"} if part.get("thought") else part


def _with_text_arguments(part: Part) -> Part:
    call = part.get("functionCall")
    return part if call is None else {**part, "functionCall": {**call, "args": json.dumps(call)}}


def _as_assistant(payload: dict[str, Any]) -> None:
    (candidate,) = payload["candidates"]
    content = {**candidate["content"], "role": "assistant"}
    payload["candidates"] = [{**candidate, "content": content}]


def _without_reason(payload: dict[str, Any]) -> None:
    (candidate,) = payload["candidates"]
    payload["candidates"] = [{k: v for k, v in candidate.items() if k != "finishReason"}]


def _without_thoughts(payload: dict[str, Any]) -> None:
    """The total is that of an API that counts thoughts as part of the answer."""
    usage = payload["usageMetadata"]
    total = usage["totalTokenCount"] - usage.get("thoughtsTokenCount", 0)
    payload["usageMetadata"] = {**usage, "totalTokenCount": total}


async def _signed_again(wires: Source, scene: Scene) -> Source:
    """The signature of a call stands on every part that comes after it, too."""
    del scene
    signature = ""
    async for wire in wires:
        for part in fields(wire)["candidates"][0]["content"]["parts"] if _is_chunk(wire) else ():
            signature = part.get(_SIGNED, signature)
        if signature:
            payload = fields(wire)
            _each_part(partial(_signed, signature))(payload)
            yield Wire(payload, wire.event)
        else:
            yield wire


async def _response_changes(wires: Source, scene: Scene) -> Source:
    """Every chunk is of a response of its own."""
    del scene
    number = 0
    async for wire in wires:
        number += 1
        payload = fields(wire)
        yield Wire({**payload, "responseId": f"{payload.get('responseId')}{number}"}, wire.event)


async def _with_thought(wires: Source, scene: Scene) -> Source:
    """An answer begins with a thought, whether it was asked for or not."""
    del scene
    has_begun = False
    async for wire in wires:
        if has_begun or not _is_chunk(wire):
            yield wire
            continue
        has_begun, payload = True, fields(wire)
        (candidate,) = payload["candidates"]
        parts = [{"text": "Hm.", "thought": True}, *candidate["content"]["parts"]]
        content = {**candidate["content"], "parts": parts}
        yield Wire({**payload, "candidates": [{**candidate, "content": content}]}, wire.event)


async def _with_sentinel(wires: Source, scene: Scene) -> Source:
    """A stream ends as that of Chat Completions."""
    async for wire in wires:
        yield wire
    if scene.streams:
        yield Wire(DONE)


def _parts(edit: Callable[[Part], Part]) -> WireHook:
    return edited(_is_chunk, _each_part(edit))


OF_GEMINI: Final = (
    Defect(
        "thoughts-unasked",
        "thoughts are shown that were to be hidden",
        {"gemini": ("effort/gemini/hidden-unless-asked", "wire/gemini/thoughts-counted")},
        wires=_with_thought,
        live=("scenario/thinking",),
    ),
    Defect(
        "signature-on-every-part",
        "what follows a signed part has its signature, too",
        {"gemini": ("wire/gemini/signature-once",)},
        wires=_signed_again,
    ),
    Defect(
        "signature-in-snake-case",
        "signatures are called thought_signature",
        {"gemini": ("history/gemini/signed-unchanged", "wire/gemini/camel-case")},
        wires=_parts(_respelled),
    ),
    Defect(
        "thoughts-labelled",
        "thoughts are text behind a label",
        {"gemini": ("wire/gemini/thought-flagged",)},
        wires=_parts(_labelled),
        live=("scenario/ending",),
    ),
    Defect(
        "args-as-text",
        "the args of a call are a text",
        {"gemini": ("wire/gemini/call-arguments", "wire/calls/arguments-fit")},
        wires=_parts(_with_text_arguments),
        live=("scenario/ending",),
    ),
    Defect(
        "model-as-assistant",
        "the role of the model is that of other APIs",
        {"gemini": ("wire/gemini/role-model",)},
        wires=edited(_is_chunk, _as_assistant),
    ),
    Defect(
        "no-finish-reason",
        "the last chunk does not say why the answer ended",
        {"gemini": ("wire/gemini/finish-stated",)},
        wires=edited(_is_last, _without_reason),
        live=("scenario/ending",),
    ),
    Defect(
        "total-without-thoughts",
        "the total leaves the thoughts out",
        {"gemini": ("wire/gemini/total-is-sum",)},
        wires=edited(_is_last, _without_thoughts),
    ),
    Defect(
        "response-changes",
        "every chunk is of a response of its own",
        {"gemini": ("wire/gemini/same-response",)},
        wires=_response_changes,
    ),
    Defect(
        "sentinel-added",
        "a stream ends with [DONE]",
        {"gemini": ("wire/gemini/payload-known",)},
        wires=_with_sentinel,
    ),
)
