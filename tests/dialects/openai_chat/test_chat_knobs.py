"""What a Chat Completions stream does, told as knobs; what it does not show is not told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.core.events import Ending, Event
from conformance.dialects.openai_chat.knob_signs import ChatKnobs
from conformance.profiles.lookup import find

Seen = Callable[..., list[Event]]
Chunk = dict[str, Any]

USAGE = {"prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5}


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> Chunk:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **more}


def without(key: str, made: Chunk) -> Chunk:
    (choice,) = made["choices"]
    return {**made, "choices": [{name: each for name, each in choice.items() if name != key}]}


def text(content: str) -> Chunk:
    return chunk({"content": content})


ROLE = chunk({"role": "assistant", "content": ""})
THINK = chunk({"reasoning_content": "so "})
TEXT = chunk({"content": "Hi"})
STOP = chunk({}, "stop")


def counted(**usage: Any) -> Chunk:
    return chunk({}, "stop", usage={**USAGE, **usage})


SHOWN: tuple[tuple[str, object, list[Chunk]], ...] = (
    ("role", "once", [ROLE, TEXT, STOP]),
    ("role", "repeated", [ROLE, chunk({"role": "assistant", "content": "x"}), STOP]),
    ("role", "never", [TEXT, STOP]),
    ("role", "any", [TEXT, ROLE, STOP]),
    ("finish_key", "always", [ROLE, TEXT, STOP]),
    ("finish_key", "last", [without("finish_reason", TEXT), STOP]),
    ("finish_key", "never", [without("finish_reason", TEXT)]),
    ("finish_count", "one", [TEXT, STOP]),
    ("finish_count", "many", [TEXT, STOP, STOP]),
    ("finish_count", "none", [TEXT]),
    ("created", "constant", [TEXT, STOP]),
    ("created", "varies", [TEXT, {**STOP, "created": 2}]),
    ("id_stability", "constant", [TEXT, STOP]),
    ("id_stability", "last_differs", [ROLE, TEXT, {**STOP, "id": "b"}]),
    ("id_stability", None, [ROLE, {**TEXT, "id": "b"}, STOP]),
    ("object_field", "required", [TEXT]),
    ("object_field", "absent", [{**TEXT, "object": "chunk"}]),
    ("empty_choices_first", True, [{**TEXT, "choices": [], "id": ""}, TEXT, STOP]),
    ("empty_choices_first", False, [TEXT, {**TEXT, "choices": [], "id": ""}]),
    ("usage_placement", "finish_chunk", [TEXT, counted()]),
    ("usage_placement", "separate", [TEXT, STOP, {**TEXT, "choices": [], "usage": USAGE}]),
    ("usage_placement", "separate_with_choices", [TEXT, STOP, counted()]),
    ("usage_placement", "every_chunk", [chunk({"content": "x"}, usage=USAGE), counted()]),
    ("usage_placement", None, [TEXT, STOP]),
    ("reasoning_tokens", "absent", [THINK, counted()]),
    ("reasoning_tokens", "zero", [THINK, counted(completion_tokens_details=None)]),
    ("reasoning_tokens", "zero", [THINK, counted(reasoning_tokens=0)]),
    ("reasoning_tokens", "top_level", [THINK, counted(reasoning_tokens=3)]),
    (
        "reasoning_tokens",
        "counted",
        [THINK, counted(completion_tokens_details={"reasoning_tokens": 3})],
    ),
    ("reasoning_tokens", None, [TEXT, counted()]),
    ("tokens", "inclusive", [THINK, counted(reasoning_tokens=3)]),
    ("tokens", "exclusive", [THINK, counted(reasoning_tokens=3, total_tokens=8)]),
    ("tokens", "exclusive", [THINK, counted(reasoning_tokens=9)]),
    ("tokens", None, [THINK, counted(reasoning_tokens=0)]),
    ("interleaved", False, [THINK, TEXT]),
    ("interleaved", True, [THINK, TEXT, THINK]),
    ("interleaved", None, [TEXT]),
    ("combined_chunk", False, [THINK, TEXT]),
    ("combined_chunk", True, [chunk({"reasoning_content": "so", "content": "Hi"})]),
    ("content_during_reasoning", "absent", [THINK]),
    ("content_during_reasoning", "null", [chunk({"reasoning": "x", "content": None})]),
    ("content_during_reasoning", "empty", [chunk({"reasoning": "x", "content": ""})]),
    ("content_during_reasoning", "any", [THINK, chunk({"reasoning": "x", "content": ""})]),
    ("boundary_whitespace", "any", [THINK, TEXT]),
    ("boundary_whitespace", "trimmed", [chunk({"reasoning": "so."}), TEXT]),
    ("boundary_whitespace", None, [THINK]),
    ("opaque_position", "before_text", [chunk({"reasoning_opaque": "zz"}), TEXT]),
    ("opaque_position", "any", [TEXT, chunk({"reasoning_opaque": "zz"})]),
    ("markers", [["<think>", "</think>"]], [text("\n<thi"), text("nk>so")]),
    ("markers", [["[THINK]", "[/THINK]"]], [TEXT, text("[/THI"), text("NK]")]),
    ("think_opened_by", "prompt", [TEXT, text("</think>")]),
    ("markers", None, [TEXT, text("a <think> tag")]),
    ("markers", None, [THINK, text("<think>")]),
)  # fmt: skip


def values(events: list[Event], *, framed: bool = True) -> dict[str, Any]:
    knobs = ChatKnobs()
    for event in events:
        knobs.see(event)
    return knobs.values(framed=framed)


@pytest.mark.parametrize(("knob", "value", "chunks"), SHOWN)
def test_knob_follows_stream(knob: str, value: object, chunks: list[Chunk], seen: Seen) -> None:
    found = values(seen("openai.chat", *chunks, done=True))
    assert found.get(knob) == value
    assert set(found) <= set(find("strict", "openai.chat").declared)


DONE: tuple[tuple[str | None, list[Chunk], bool, Ending], ...] = (
    ("required", [TEXT, STOP], True, "eof"),
    ("forbidden", [TEXT, STOP], False, "eof"),
    (None, [TEXT], False, "eof"),  # may have broken off
    (None, [TEXT, STOP], False, "reset"),
    (None, [TEXT, STOP, {"error": {"message": "no"}}], False, "eof"),
)


@pytest.mark.parametrize(("value", "chunks", "done", "end"), DONE)
def test_terminator_is_reported_of_whole_streams_only(
    value: str | None, chunks: list[Chunk], done: bool, end: Ending, seen: Seen
) -> None:
    assert values(seen("openai.chat", *chunks, done=done, end=end)).get("done") == value


def test_terminator_of_rebuilt_framing_tells_nothing(seen: Seen) -> None:
    assert "done" not in values(seen("openai.chat", TEXT, STOP, done=True), framed=False)


def test_nothing_is_reported_of_nothing(seen: Seen) -> None:
    assert values(seen("openai.chat", done=True)) == {}
