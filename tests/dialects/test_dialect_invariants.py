"""What must hold of the semantic events of every stream, however its texts are cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Event
from conformance.dialects import Reading
from conformance.dialects.openai_chat import fields
from tests.dialects.streams import SEMANTIC_ORDER

ReadStream = Callable[..., list[Event]]
TEXT = st.text(alphabet="ab <>/think\n\u00e9\U0001f600", min_size=1, max_size=12)
KINDS = ("thinking", "text")


def semantic(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.layer == "semantic"]


def joined(events: Sequence[Event], kind: str, choice: int = 0) -> str:
    return "".join(
        event.data["text"]
        for event in semantic(events)
        if event.type == f"{kind}.delta" and event.data["choice"] == choice
    )


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    """A text in non-empty pieces."""
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=6)))
    ends = [*(at for at in cuts if at < len(text)), len(text)]
    return [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


CARRIERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "reasoning_content": lambda text: {"content": None, "reasoning_content": text},
    "mirrored": lambda text: {
        "content": "",
        "reasoning": text,
        "reasoning_content": text,
        "reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0}],
    },
    "details": lambda text: {"reasoning_details": [{"type": "reasoning.summary", "summary": text}]},
    "parts": lambda text: {
        "content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]
    },
    "summary parts": lambda text: {
        "content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}]
    },
    "blocks": lambda text: {"thinking_blocks": [{"type": "thinking", "thinking": text}]},
}


@st.composite
def chat_runs(draw: st.DrawFn) -> tuple[list[tuple[int, str, str]], list[dict[str, Any]]]:
    """(choice, kind, text) runs, and chunks that carry them with empty filler between."""
    carrier = CARRIERS[draw(st.sampled_from(sorted(CARRIERS)))]
    runs = draw(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(KINDS), TEXT), max_size=6))
    chunks: list[dict[str, Any]] = []
    for choice, kind, text in runs:
        for piece in draw(cut(text)):
            delta = {"content": piece} if kind == "text" else carrier(piece)
            chunks.append({"choices": [{"index": choice, "delta": delta}]})
            if draw(st.booleans()):
                empty = {"content": "", "reasoning_content": "", "tool_calls": []}
                chunks.append({"choices": [{"index": choice, "delta": empty}]})
    return runs, chunks


@given(stream=chat_runs(), ends=st.sampled_from(["[DONE]", ""]))
def test_chat_texts_come_back_whole_and_blocks_balance(
    stream: tuple[list[tuple[int, str, str]], list[dict[str, Any]]],
    ends: str,
    read_stream: ReadStream,
    assert_sound: Callable[[list[Event]], None],
) -> None:
    runs, chunks = stream

    events = read_stream("openai.chat", [*chunks, *([ends] if ends else [])])

    assert_sound(events)
    for choice in range(3):
        for kind in KINDS:
            expected = "".join(text for c, k, text in runs if (c, k) == (choice, kind))
            assert joined(events, kind, choice) == expected


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["assistant", None]),
        "content": st.sampled_from(["", "x", "<think>", None, [{"type": "text", "text": "p"}]]),
        "reasoning_content": st.sampled_from(["", "y", None, 1]),
        "reasoning": st.sampled_from(["", "z", "</think>"]),
        "refusal": st.sampled_from([None, "no"]),
        "tool_calls": st.sampled_from([None, [], [{"index": 0, "id": "t"}]]),
        "reasoning_details": st.just([{"type": "reasoning.summary", "summary": "s"}]),
        "token_id": st.just(7),
    },
)
READINGS = (
    Reading(),
    Reading(markers=(("<think>", "</think>"),)),
    Reading(fields={"thinking": ("token_id", "refusal")}),
)


@given(
    deltas=st.lists(st.tuples(FIELDS, st.sampled_from([None, "", "stop"])), max_size=8),
    reading=st.sampled_from(READINGS),
)
def test_a_delta_with_one_field_that_counts_is_read_as_any_other(
    read_stream: ReadStream, deltas: list[tuple[dict[str, Any], str | None]], reading: Reading
) -> None:
    chunks = [{"choices": [{"delta": d, "finish_reason": reason}]} for d, reason in deltas]

    events = read_stream("openai.chat", chunks, reading)

    with mock.patch.object(fields, "only_carrier", return_value=""):
        assert read_stream("openai.chat", chunks, reading) == events


def chat_chunk(thought: str, text: str, opaque: str, tool: str, finish: str) -> dict[str, Any]:
    tools = [{"index": 0, "id": "t", "function": {"name": "f", "arguments": tool}}]
    delta = {
        "role": "assistant",
        "reasoning": thought,
        "reasoning_opaque": opaque,
        "content": text,
        "tool_calls": tools if tool else None,
    }
    choice = {"index": 0, "delta": delta, "finish_reason": finish or None}
    return {"choices": [choice], "usage": {"prompt_tokens": 1} if finish else None}


MAYBE = st.sampled_from(["", "x"])


@given(st.lists(st.builds(chat_chunk, MAYBE, MAYBE, MAYBE, MAYBE, MAYBE), min_size=1, max_size=5))
def test_chat_frames_keep_order(read_stream: ReadStream, chunks: list[dict[str, Any]]) -> None:
    events = semantic(read_stream("openai.chat", [*chunks, "[DONE]"]))

    for number in range(1, len(chunks) + 2):
        # The end of an earlier run comes where the next kind begins, before anything it carries.
        ranks = [
            SEMANTIC_ORDER[event.type]
            for event in events
            if event.number == number and event.type != "text.end"
        ]
        assert ranks == sorted(ranks)


@given(
    parts=st.lists(st.tuples(st.sampled_from(KINDS), TEXT.filter(lambda t: "<" not in t))),
    data=st.data(),
)
def test_markers_in_content_survive_any_chunking(
    parts: list[tuple[str, str]],
    data: st.DataObject,
    read_stream: ReadStream,
    assert_sound: Callable[[list[Event]], None],
) -> None:
    whole = "".join(f"<think>{t}</think>" if kind == "thinking" else t for kind, t in parts)
    chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in data.draw(cut(whole))]

    events = read_stream(
        "openai.chat", [*chunks, "[DONE]"], Reading(markers=(("<think>", "</think>"),))
    )

    assert_sound(events)
    for kind in KINDS:
        assert joined(events, kind) == "".join(text for k, text in parts if k == kind)


@st.composite
def responses_stream(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    """(kind, text) items and a stream of them: announced or not, with deltas or without."""
    items = draw(st.lists(st.tuples(st.sampled_from(KINDS), TEXT), max_size=5))
    rotates = draw(st.booleans())
    frames: list[dict[str, Any]] = []

    def add(kind: str, index: int, **fields: Any) -> None:
        item_id = f"{index}-{len(frames)}" if rotates else f"{index}"
        if "item" in fields:
            fields["item"]["id"] = item_id
        else:
            fields["item_id"] = item_id
        frames.append({"type": f"response.{kind}", "output_index": index, **fields})

    for index, (kind, text) in enumerate(items):
        item_type, part, delta = (
            ("reasoning", "reasoning_text", "reasoning_text")
            if kind == "thinking"
            else ("message", "output_text", "output_text")
        )
        announced, by_deltas, finished = (draw(st.booleans()) for _ in range(3))
        if announced:
            add("output_item.added", index, item={"type": item_type, "summary": []})
        if by_deltas:
            for piece in draw(cut(text)):
                add(f"{delta}.delta", index, content_index=0, delta=piece)
        if not by_deltas or draw(st.booleans()):
            add(f"{delta}.done", index, content_index=0, text=text)
        if finished:
            content = [{"type": part, "text": text}]
            add("output_item.done", index, item={"type": item_type, "content": content})
    return items, frames


@given(stream=responses_stream(), ends=st.booleans())
def test_responses_texts_come_back_whole_once_and_blocks_balance(
    stream: tuple[list[tuple[str, str]], list[dict[str, Any]]],
    ends: bool,
    read_stream: ReadStream,
    assert_sound: Callable[[list[Event]], None],
) -> None:
    items, frames = stream
    terminal = {"type": "response.completed", "response": {"status": "completed"}}

    events = read_stream("openai.responses", [*frames, *([terminal] if ends else [])])

    assert_sound(events)
    for kind in KINDS:
        assert joined(events, kind) == "".join(text for k, text in items if k == kind)
