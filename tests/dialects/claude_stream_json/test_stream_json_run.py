"""Claude Code: what a client shows of a run, from wrapped events or from whole messages."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("claude.stream-json")
read, semantic = READER.read, READER.semantic


def wired(kind: str, *payloads: Payload) -> list[Payload]:
    return [dict(e.data) for e in read(*payloads) if e.layer == "wire" and e.type == kind]


def event(kind: str, of: str = "m", **fields: Any) -> Payload:
    wrapped = {"type": kind, **fields}
    return {"type": "stream_event", "event": wrapped, "api_message_id": of}


def begun(of: str = "m") -> Payload:
    return event("message_start", of, message={"id": of, "content": []})


def stated(message: str, *blocks: Any, **more: Any) -> Payload:
    return {"type": "assistant", "message": {"id": message, "content": list(blocks)}, **more}


def block(index: int, text: str, kind: str = "text") -> list[Payload]:
    delta = {"type": f"{kind}_delta", kind: text}
    return [
        event("content_block_start", index=index, content_block={"type": kind, kind: ""}),
        event("content_block_delta", index=index, delta=delta),
        event("content_block_stop", index=index),
    ]


RESULT = {"type": "result", "is_error": False, "stop_reason": "end_turn", "result": "Hi"}
THOUGHT = {"type": "thinking", "thinking": "so", "signature": "x"}
ANSWER = [
    ("message.start", {"role": "assistant", "id": "m"}),
    ("step.start", {"step": 0}),
    ("thinking.start", {"block": 0, "channel": "raw", "explicit": True}),
    ("thinking.delta", {"block": 0, "channel": "raw", "text": "so"}),
    ("thinking.end", {"block": 0, "explicit": True}),
    ("text.start", {"block": 1}),
    ("text.delta", {"block": 1, "text": "Hi"}),
    ("text.end", {"block": 1}),
    ("step.end", {"step": 0}),
    ("finish", {"reason": "stop"}),
    ("done", {"explicit": True}),
]


def test_wrapped_events_are_the_answer_and_lines_say_none_of_it_again() -> None:
    thought = block(0, "so", "thinking")
    lines = [
        *thought[:2],
        stated("m", {"type": "thinking", "thinking": "so"}),
        thought[2],
        *block(1, "Hi"),
    ]
    assert semantic(begun(), *lines, event("message_stop"), RESULT) == ANSWER


def test_without_events_the_lines_are_the_answer() -> None:
    lines = [stated("m", THOUGHT), stated("m", {"type": "text", "text": "Hi"})]
    found = semantic(*lines, RESULT)
    assert [each for each in found if each[0] != "thinking.opaque"] == ANSWER


def test_every_message_is_a_step_of_one_answer() -> None:
    found = semantic(begun(), *block(0, "a"), event("message_stop"), begun("n"), RESULT)
    assert [kind for kind, _ in found].count("message.start") == 1
    assert [data["step"] for kind, data in found if kind == "step.end"] == [0, 1]


def test_a_stated_block_has_the_index_of_the_one_that_began_last() -> None:
    one = [begun(), *block(0, "a"), *block(1, "b")]
    place = stated("m", {"type": "text", "text": "b"})
    assert [each["index"] for each in wired("assistant.block", *one, place)] == [1]
    both = stated("m", {"type": "text", "text": "a"}, {"type": "text", "text": "b"})
    assert [each["index"] for each in wired("assistant.block", *one, both)] == [0, 1]
    assert "index" not in wired("assistant.block", place)[0]


def test_an_error_that_is_worded_as_an_answer_is_none() -> None:
    worded = stated("f", {"type": "text", "text": "API Error"}, is_api_error_message=True)
    failed = {"type": "result", "is_error": True, "api_error_type": "busy", "result": "API Error"}
    assert semantic(worded, failed) == [("error", {"code": "busy", "message": "API Error"})]


def test_what_a_subagent_says_is_reported_by_the_wire_alone() -> None:
    own = {**event("content_block_delta", "s", index=0), "parent_tool_use_id": "toolu"}
    line = stated("s", {"type": "text", "text": "a"}, parent_tool_use_id="toolu")
    assert [kind for kind, _ in semantic(own, line)] == ["cut"]
    assert len(wired("content_block_delta", own)) == 1


def test_a_message_after_the_result_is_another_turn() -> None:
    assert [kind for kind, _ in semantic(RESULT, begun("n"))][-1] == "cut"


EVENTS = st.sampled_from(
    [
        *(begun(), begun("n"), event("message_stop"), RESULT, stated("m", THOUGHT)),
        *block(0, "a"),
        *block(0, "b", "thinking"),
        *block(1, "c"),
        event("content_block_delta", index=None, delta={"type": "input_json_delta"}),
        event("error", error={}),
        stated("o", {"type": "text", "text": "d"}, "odd", {"type": "tool_use", "input": 3}),
        {"type": "stream_event"},
        {"type": "assistant", "message": None},
        {"type": 3},
    ]
)


@given(st.lists(EVENTS, max_size=30))
def test_every_block_and_call_that_starts_is_ended(events: list[Payload]) -> None:
    """An end that the wire says twice is told twice."""
    found = semantic(*events)
    for start, end, key in (
        ("thinking.start", "thinking.end", "block"),
        ("text.start", "text.end", "block"),
        ("tool.start", "tool.end", "index"),
    ):
        started = [data[key] for kind, data in found if kind == start]
        assert started == sorted(set(started))
        assert {data[key] for kind, data in found if kind == end} == set(started)


def test_a_block_that_is_a_message_is_stated_by_the_line_after_it() -> None:
    def own(*events: Payload) -> list[Payload]:
        return [{k: v for k, v in each.items() if k != "api_message_id"} for each in events]

    announced = {"type": "system", "subtype": "init", "qwen_code_version": "0.15.10"}
    thought = own(begun("a"), *block(0, "so", "thinking"))
    words = own(*block(0, "Hi"), event("message_stop"))
    lines = stated("a", {**THOUGHT, "signature": ""}), stated("b", {"type": "text", "text": "Hi"})
    sent = [announced, *thought, lines[0], *words[:3], lines[1], words[3], RESULT]
    assert semantic(*sent)[1:] == ANSWER[1:]
    placed = [(each["api_message_id"], each["index"]) for each in wired("assistant.block", *sent)]
    assert placed == [("a", 0), ("a", 1)]
    assert [each.get("own_index") for each in wired("content_block_start", *sent)] == [0, 0]
    # Of whom does not announce itself, the second line is another message.
    assert len(semantic(*sent[1:])) > len(ANSWER)


def unnamed(*events: Payload) -> list[Payload]:
    """Events that do not say of which message they are."""
    return [{k: v for k, v in each.items() if k != "api_message_id"} for each in events]


def test_a_message_whose_events_have_no_id_is_the_one_that_the_lines_name() -> None:
    def message(named: str) -> list[Payload]:
        start = event("message_start", message={"content": []})
        thought, words = block(0, "so", "thinking"), block(1, "Hi")
        lines = stated(named, THOUGHT), stated(named, {"type": "text", "text": "Hi"})
        return [
            *unnamed(start, *thought),
            lines[0],
            *unnamed(*words),
            lines[1],
            *unnamed(event("message_stop")),
        ]

    assert semantic(*message("a"), RESULT)[1:] == ANSWER[1:]
    sent = [*message("a"), *message("b")]
    of = {"message_start", "content_block_start", "assistant.block", "message_stop"}
    names = [e.data["api_message_id"] for e in read(*sent) if e.layer == "wire" and e.type in of]
    assert names == ["message 1"] * 6 + ["message 2"] * 6
    # A line behind its end is another message, which nobody announced.
    assert len(semantic(*message("a"), stated("c", {"type": "text", "text": "Hi"}), RESULT)) > len(
        ANSWER
    )
