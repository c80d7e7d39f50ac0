"""Real recordings: recognised, sound, and with the texts that a plain reading of them gives."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance import dialects
from conformance.core.events import Event, Frame

CAPTURES = os.environ.get("CONFORMANCE_CAPTURES", "")
SUFFIXES = {".sse", ".jsonl", ".ndjson", ".json"}
FILES = sorted(p for p in Path(CAPTURES).glob("*/*") if p.suffix in SUFFIXES) if CAPTURES else []

pytestmark = [
    pytest.mark.captures,
    pytest.mark.skipif(not FILES, reason="CONFORMANCE_CAPTURES names no folder of recordings"),
]
each_file = pytest.mark.parametrize("file", FILES or [None], ids=lambda p: p.name if p else "none")

# Family of the recordings' index -> dialect.
FAMILIES = {
    "cc": "openai.chat",
    "inline": "openai.chat",
    "mistral": "mistral.chat",
    "openai.responses": "openai.responses",
    "anthropic": "anthropic.messages",
    "gemini.generateContent": "gemini.generate",
    "gemini.interactions": "gemini.interactions",
    "ollama.native": "ollama.chat",
    "cohere": "cohere.v2",
    "bedrock": "bedrock.converse",
}
# A plain text is what Chat Completions have, too.
PLAIN = {"mistral_nonstream_magistral.json", "mistral_nonstream_small_disabled.json"}
# Nothing in an error tells whose it is.
NAMELESS = {
    "bedrock_converse_stream_400.json",
    "gemini_429_retry_info.json",
    "gemini_stream_error_404.json",
}
STRINGS = ("reasoning_content", "reasoning", "reasoning_text")


@cache
def frames(file: Path) -> list[Frame]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".json":
        return [Frame("body", "", text, "", 0)]
    if file.suffix != ".sse":
        return [Frame("event", "message", line, "", 0) for line in text.split("\n") if line.strip()]
    return [frame for block in re.split(r"\r?\n\r?\n", text) for frame in event_frames(block)]


def event_frames(block: str) -> Iterator[Frame]:
    data = re.findall(r"^data: ?(.*?)\r?$", block, re.MULTILINE)
    name = re.search(r"^event: ?(.*?)\r?$", block, re.MULTILINE)
    if data:
        yield Frame("event", name[1] if name else "message", "\n".join(data), "", 0, bool(name))


@cache
def payloads(file: Path) -> list[dict[str, Any]]:
    found = []
    for frame in frames(file):
        try:
            value = msgspec.json.decode(frame.data)
        except msgspec.DecodeError:
            continue
        listed = value if isinstance(value, list) else [value]
        found += [each for each in listed if isinstance(each, dict)]
    return found


@cache
def dialect_of(file: Path) -> str | None:
    found = (dialects.recognise(frame, p) for frame in frames(file)[:1] for p in payloads(file))
    names = [name for name in found if name]
    finer = (name for name in names if name not in dialects.REFINED)
    return next(finer, names[0] if names else None)


def read_or_skip(file: Path, read_stream: Callable[..., list[Event]], *only: str) -> list[Event]:
    name = dialect_of(file)
    if name not in only:
        pytest.skip(f"not {' or '.join(only)}")
    return read_stream(name, frames(file))


def joined(events: list[Event], kind: str, channel: str = "") -> str:
    return "".join(
        event.data["text"]
        for event in events
        if event.type == kind and channel in ("", event.data.get("channel"))
    )


@pytest.mark.one_in(3)
@each_file
def test_recording_is_recognised(file: Path) -> None:
    index = msgspec.json.decode((Path(CAPTURES) / "INDEX.json").read_bytes())
    stated = {entry["file"]: entry.get("dialect", "") for entry in index if "file" in entry}
    family = stated.get(f"{file.parent.name}/{file.name}", "")
    expected = [name for key, name in FAMILIES.items() if family.startswith(key)]
    if not expected:
        pytest.skip("the index does not say")

    name = "openai.chat" if file.name in PLAIN else expected[0]
    assert dialect_of(file) == (None if file.name in NAMELESS else name)


@pytest.mark.one_in(3)
@each_file
def test_recording_is_sound(
    file: Path, read_stream: Callable[..., list[Event]], assert_sound: Callable[[list[Event]], None]
) -> None:
    events = read_or_skip(file, read_stream, *dialects.SUPPORTED)

    assert_sound(events)


@pytest.mark.one_in(3)
@each_file
def test_wire_types_are_known(file: Path, read_stream: Callable[..., list[Event]]) -> None:
    events = read_or_skip(file, read_stream, *dialects.SUPPORTED)
    vocabulary = dialects.get(dialect_of(file) or "").vocabulary

    assert {event.type for event in events if event.layer == "wire"} <= vocabulary.wire


@pytest.mark.one_in(3)
@each_file
def test_chat_texts_join_the_deltas(file: Path, read_stream: Callable[..., list[Event]]) -> None:
    events = read_or_skip(file, read_stream, "openai.chat")

    thinking, text = "", ""
    for payload in payloads(file):
        for choice in payload.get("choices", []):
            delta = choice.get("delta") or choice.get("message") or {}
            thinking += carried(delta)
            content = delta.get("content")
            parts = content if isinstance(content, list) else []
            text += content if isinstance(content, str) else ""
            text += "".join(part.get("text", "") for part in parts)
    assert joined(events, "thinking.delta") == thinking
    assert joined(events, "text.delta") == text


def carried(delta: dict[str, Any]) -> str:
    """Thinking of a delta, from the first carrier that has any."""
    for name in STRINGS:
        if delta.get(name):
            return str(delta[name])
    details = delta.get("reasoning_details") or []
    text = "".join(detail.get("text") or detail.get("summary") or "" for detail in details)
    content = delta.get("content")
    parts = content if isinstance(content, list) else []
    return text or "".join(
        piece["text"] for part in parts for piece in part.get("thinking", ()) if piece.get("text")
    )


@pytest.mark.one_in(3)
@each_file
def test_responses_texts_are_final(file: Path, read_stream: Callable[..., list[Event]]) -> None:
    events = read_or_skip(file, read_stream, "openai.responses")
    completed = [
        payload.get("response", payload)
        for payload in payloads(file)
        if payload.get("type") == "response.completed" or payload.get("object") == "response"
    ]
    if not completed:
        pytest.skip("ends without a finished response")

    items = [item for response in completed for item in response["output"]]
    for key, channel in (("content", "raw"), ("summary", "summary")):
        expected = item_text(items, "reasoning", key)
        assert joined(events, "thinking.delta", channel) == expected
    assert joined(events, "text.delta") == item_text(items, "message", "content")


def item_text(items: list[dict[str, Any]], kind: str, key: str) -> str:
    return "".join(
        part["text"] for item in items if item["type"] == kind for part in item.get(key) or ()
    )


@pytest.mark.one_in(3)
@each_file
def test_recording_uses_its_channel(file: Path, read_stream: Callable[..., list[Event]]) -> None:
    if "openrouter" in file.name:
        pytest.skip("announces its raw thinking as a summary")
    events = read_or_skip(file, read_stream, *dialects.SUPPORTED)

    starts = {e.data["block"]: e.data["channel"] for e in events if e.type == "thinking.start"}
    used = {e.data["block"]: e.data["channel"] for e in events if e.type == "thinking.delta"}
    mixed = {block for block, channel in used.items() if starts[block] != channel}
    # OGX announces an item with its raw text and then says only the summary in it.
    assert not mixed or "ogx" in str(file)
