"""Whole messages and stored turns: extraction, restoring, and the file between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.client.event import Event
from reference_impl.client.extraction import thinking_of, turn_of, turns_of
from reference_impl.client.record import Store, StoreError, record_of
from reference_impl.client.record import turn_of as restored
from reference_impl.client.turn import (
    Called,
    Role,
    Thought,
    Turn,
    Words,
    events_of,
    result_turn,
    text_turn,
)

BLOCK = {"type": "thinking", "thinking": "block"}
THINKING: list[tuple[dict[str, Any], str]] = [
    ({"reasoning_content": "a"}, "a"),
    ({"reasoning": "b"}, "b"),
    ({"thinking": "c"}, "c"),
    ({"thinking": "c", "reasoning": "b", "reasoning_content": "a"}, "a\nb\nc"),
    ({"reasoning_content": "same", "reasoning": "same"}, "same"),
    ({"reasoning_content": "", "reasoning": None, "thinking": 7}, ""),
    ({"content": [{"type": "reasoning", "text": "r"}, {"type": "text", "text": "t"}]}, "r"),
    ({"content": [{"type": "text", "text": "t"}, BLOCK]}, "block"),
    (
        {"reasoning_content": "a", "content": [BLOCK, {"type": "reasoning", "text": "r"}]},
        "a\nblock\nr",
    ),
    ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "part"}]}]}, "part"),
    ({"thinking_blocks": [{"type": "thinking", "thinking": "lite"}]}, "lite"),
    ({"reasoning_content": "a", "thinking_blocks": [{"thinking": "lite"}]}, "a"),
    ({"content": "just text"}, ""),
    ({}, ""),
]


@pytest.mark.parametrize(("message", "thinking"), THINKING)
def test_thinking_is_taken_in_order_of_document(message: dict[str, Any], thinking: str) -> None:
    assert thinking_of(message) == thinking


def test_a_chat_message_is_a_turn() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "4."}],
        "reasoning_opaque": "OP",
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}],
    }
    assert turn_of(message, "chat") == Turn(
        "assistant",
        (Thought(raw="hm", encrypted="OP"), Words("4."), Called("c", "f", '{"a":1}')),
        echo={"reasoning_opaque": "OP"},
    )


def test_a_message_of_messages_keeps_the_order_of_its_blocks() -> None:
    content = [
        {"type": "text", "text": "Hm."},
        {"type": "thinking", "thinking": "a", "signature": "S"},
        {"type": "redacted_thinking", "data": "R"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
    ]
    assert turn_of({"role": "assistant", "content": content}, "messages").pieces == (
        Words("Hm."),
        Thought(raw="a", signature="S"),
        Thought(redacted="R"),
        Called("c", "f", '{"a":1}'),
    )


def test_the_output_of_a_response_is_a_turn() -> None:
    output = [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": t} for t in ("One.", "Two.")],
            "encrypted_content": "E",
        },
        {"type": "message", "content": [{"type": "output_text", "text": "4."}]},
    ]
    assert turn_of({"output": output}, "responses").pieces == (
        Thought(parts=("One.", "Two."), id="rs_1", encrypted="E"),
        Words("4."),
    )


def test_a_history_may_be_in_any_form() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    entries: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "4"},
        {"role": "assistant", "content": "4."},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": "5"}]},
        {"role": "tool", "tool_call_id": "e", "content": "6"},
    ]
    assert turns_of(entries, "responses") == (
        text_turn("system", "Be brief."),
        text_turn("user", "Hi"),
        Turn("assistant", (Thought(id="rs_1"), Called("c", "f", "{}"))),
        result_turn("c", "4"),
        text_turn("assistant", "4."),
        result_turn("d", "5"),
        result_turn("e", "6"),
    )


FORMS: list[tuple[dict[str, Any], str, str]] = [
    ({"thought": "X"}, "X", ""),
    ({"thought": {"text": "X", "reasoning_content": "R"}}, "X", "R"),
    ({"thought": "X", "reasoning_content": "R"}, "X", "R"),
    ({"thought": {"text": "X", "reasoning_content": None}}, "X", ""),
    ({"thought": {"text": "X"}, "reasoning_content": "R"}, "X", "R"),
    ({"thought": "", "reasoning_content": "R"}, "", "R"),
    ({"thought": ["odd"], "reasoning_content": 7}, "", ""),
]


@pytest.mark.parametrize(("args", "text", "thinking"), FORMS)
@pytest.mark.parametrize("wrapped", [True, False])
def test_thought_is_restored(args: dict[str, Any], text: str, thinking: str, wrapped: bool) -> None:
    turn = restored({"args": args} if wrapped else args)
    assert (turn.text, turn.thinking) == (text, thinking)


def test_a_thought_is_stored_flat() -> None:
    turn = Turn("assistant", (Thought(raw="R"), Words("X")))
    assert record_of(turn) == {
        "role": "assistant",
        "args": {"thought": "X", "reasoning_content": "R"},
    }
    assert record_of(text_turn("assistant", "X"))["args"] == {"thought": "X"}


TEXTS = st.text(max_size=5)
THOUGHTS = st.builds(
    Thought,
    raw=TEXTS,
    parts=st.lists(TEXTS, max_size=2).map(tuple),
    id=TEXTS,
    signature=TEXTS,
    encrypted=TEXTS,
    redacted=TEXTS,
)
PIECES = st.one_of(THOUGHTS, st.builds(Words, TEXTS), st.builds(Called, TEXTS, TEXTS, TEXTS))
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
TURNS = st.builds(
    Turn,
    st.sampled_from(ROLES),
    st.lists(PIECES, max_size=4).map(tuple),
    call_id=TEXTS,
    echo=st.dictionaries(TEXTS, TEXTS, max_size=1),
)


@given(TURNS)
def test_every_turn_comes_back_from_its_record(turn: Turn) -> None:
    assert restored(record_of(turn)) == turn


def test_a_turn_is_reported_in_events_that_a_stream_would_give() -> None:
    turn = Turn("assistant", (Thought(raw="R", signature="S"), Words("X"), Called("c", "f", "{}")))
    assert events_of(turn) == [
        Event("message.start", {"role": "assistant"}),
        Event("thinking.start", {"block": 0, "channel": "raw", "explicit": False}),
        Event("thinking.delta", {"block": 0, "channel": "raw", "text": "R"}),
        Event("thinking.end", {"block": 0, "explicit": False}),
        Event("thinking.opaque", {"block": 0, "kind": "signature", "data": "S"}),
        Event("text.start", {"block": 1}),
        Event("text.delta", {"block": 1, "text": "X"}),
        Event("text.end", {"block": 1}),
        Event("tool.start", {"index": 0, "id": "c", "name": "f"}),
        Event("tool.delta", {"index": 0, "arguments": "{}"}),
        Event("tool.end", {"index": 0, "id": "c", "name": "f", "arguments": "{}"}),
    ]


def test_a_store_gives_back_what_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "talk.jsonl")
    assert store.read().turns == ()
    first = (
        text_turn("user", "Hi"),
        Turn("assistant", (Thought(raw="R", signature="S"), Words("X"))),
    )
    store.append(first)
    store.append([text_turn("user", "\u2028 \ud83e")])
    assert store.read().turns == (*first, text_turn("user", "\u2028 \ud83e"))
    assert (tmp_path / "talk.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("lost", range(1, 30))
def test_a_torn_tail_costs_its_own_turn_only(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "talk.jsonl"
    store = Store(path)
    store.append([text_turn("user", "one")])
    kept = path.stat().st_size
    store.append([text_turn("user", "two")])
    path.write_bytes(path.read_bytes()[:-lost])
    # Without its line end alone a line is still whole.
    torn = () if path.stat().st_size <= kept or lost == 1 else (2,)
    assert store.read().torn == torn
    store.append([text_turn("user", "three")])
    found = [turn.text for turn in store.read().turns]
    assert found == (["one", "two", "three"] if lost == 1 else ["one", "three"])


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(tmp_path)):
        Store(tmp_path).append([text_turn("user", "Hi")])
    with pytest.raises(StoreError, match=str(tmp_path)):
        Store(tmp_path).read()
