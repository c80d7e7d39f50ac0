"""Real recordings of the Messages API: the texts that a plain reading of them gives."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.core.events import Event, Frame
from conformance.profiles.lookup import find

CAPTURES = os.environ.get("CONFORMANCE_CAPTURES", "")
FILES = sorted(Path(CAPTURES).glob("hosted/anthropic_*")) if CAPTURES else []

pytestmark = [
    pytest.mark.captures,
    pytest.mark.skipif(not FILES, reason="CONFORMANCE_CAPTURES names no folder of recordings"),
]
each_file = pytest.mark.parametrize("file", FILES or [None], ids=lambda p: p.name if p else "none")


def payloads(file: Path) -> list[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith(("data: ", "{"))]
    return [json.loads(each) for each in data]


def frames(file: Path) -> list[Frame]:
    return [Frame("event", p["type"], json.dumps(p), "", 0, True) for p in payloads(file)]


def carried(file: Path, field: str) -> str:
    deltas = [p["delta"] for p in payloads(file) if p["type"] == "content_block_delta"]
    return "".join(delta.get(field, "") for delta in deltas)


def joined(events: list[Event], kind: str, field: str) -> str:
    return "".join(event.data[field] for event in events if event.type == kind)


@each_file
def test_texts_are_those_of_the_deltas(
    file: Path, read_stream: Callable[..., list[Event]], assert_sound: Callable[[list[Event]], None]
) -> None:
    events = read_stream("anthropic.messages", frames(file))

    assert_sound(events)
    assert joined(events, "thinking.delta", "text") == carried(file, "thinking")
    assert joined(events, "text.delta", "text") == carried(file, "text")
    assert joined(events, "tool.delta", "arguments") == carried(file, "partial_json")
    signatures = [
        e for e in events if e.type == "thinking.opaque" and e.data["kind"] == "signature"
    ]
    assert joined(signatures, "thinking.opaque", "data") == carried(file, "signature")
    assert events[-1].data == {"choice": 0, "explicit": True}


@each_file
def test_the_profile_permits_what_was_recorded(file: Path) -> None:
    knobs = find("anthropic", "anthropic.messages").knobs
    events = payloads(file)
    kinds = [event["delta"]["type"] for event in events if event["type"] == "content_block_delta"]
    blocks = [event["content_block"]["type"] for event in events if "content_block" in event]
    usage = [event["usage"] for event in events if event["type"] == "message_delta"]

    assert kinds.count("signature_delta") == blocks.count("thinking")
    assert knobs["signature"] == "required"
    assert knobs["interleaved"] or "thinking" not in blocks[blocks.index("text") :]
    counts = "output_tokens_details" in usage[-1] or not carried(file, "thinking")
    assert counts or knobs["reasoning_tokens"] == "absent"
