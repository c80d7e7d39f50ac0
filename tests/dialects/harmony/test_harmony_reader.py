"""Token text: what its markers mean, raw and in completions."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import dialects
from conformance.core.events import Chunk, Event, Exchange, Frame, Request
from conformance.core.reading import Reading
from conformance.dialects.harmony.header import Header, read_header
from conformance.dialects.harmony.markers import SPECIAL_TOKENS
from conformance.dialects.recognition import recognised_dialect
from conformance.recordings.api import check_chunks
from tests.each import each_row

HARMONY = dialects.get("harmony")
THOUGHT = "<|channel|>analysis<|message|>Let me\nthink.<|end|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>Four.<|return|>"
CALL = (
    "<|start|>assistant<|channel|>commentary to=functions.add <|constrain|>json<|message|>"
    '{"a": 2}<|call|>'
)


def read_raw(*chunks: str, **facts: Any) -> list[Event]:
    pieces = tuple(Chunk(chunk.encode()) for chunk in chunks)
    exchange = Exchange(chunks=pieces, **facts)
    return [event for frame in HARMONY.trace(exchange, Reading()) for event in frame.events]


def read_payloads(*payloads: Any, kind: Any = "event", end: Any = "eof") -> list[Event]:
    reader = HARMONY.reader(Reading())
    events: list[Event] = []
    for number, payload in enumerate(payloads, 1):
        data = payload if isinstance(payload, str) else "{}"
        given_ = dialects.NOT_JSON if isinstance(payload, str) else payload
        events += reader.read(Frame(kind, "message", data, "", 0), given_, number)
    return [*events, *reader.end(end, len(payloads) + 1)]


def completion(text: str, reason: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "text": text, "finish_reason": reason}
    return {"object": "text_completion", "choices": [choice]}


def joined_events(events: list[Event]) -> list[Any]:
    """Semantic events, deltas of a block joined."""
    found: list[Any] = []
    for event in events:
        if event.layer != "semantic":
            continue
        text = event.data.get("text") or event.data.get("arguments")
        if event.type.endswith(".delta") and found and found[-1][0] == event.type:
            found[-1] = (event.type, found[-1][1] + text)
        else:
            found.append((event.type, text) if text else (event.type,))
    return found


def wired(events: list[Event], kind: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in events if event.type == kind]


def test_analysis_is_thinking_and_final_is_text() -> None:
    assert joined_events(read_raw(THOUGHT + FINAL)) == [
        ("message.start",),
        ("thinking.start",),
        ("thinking.delta", "Let me\nthink."),
        ("thinking.end",),
        ("text.start",),
        ("text.delta", "Four."),
        ("text.end",),
        ("finish",),
        ("done",),
    ]


def test_a_message_to_a_function_is_a_call() -> None:
    events = read_raw(THOUGHT + CALL)
    [end] = [event.data for event in events if event.type == "tool.end"]
    assert end == {"choice": 0, "index": 0, "name": "add", "arguments": '{"a": 2}'}
    assert [event.data["reason"] for event in events if event.type == "finish"] == ["call"]


def test_a_preamble_is_text_that_says_it_is_commentary() -> None:
    preamble = "<|start|>assistant<|channel|>commentary<|message|>I add.<|end|>"
    deltas = [e.data for e in read_raw(THOUGHT, preamble, CALL) if e.type == "text.delta"]
    assert [(each["text"], each["phase"]) for each in deltas] == [("I add.", "commentary")]


def test_what_other_roles_say_is_not_the_models() -> None:
    assert [
        e for e in joined_events(read_raw("<|start|>user<|message|>And?<|end|>")) if e[0] != "cut"
    ] == []


def test_a_marker_inside_the_content_is_text() -> None:
    events = read_raw(FINAL.replace("Four.", "Four <|channel|>x"))
    assert ("text.delta", "Four <|channel|>x") in joined_events(events)


def test_text_that_stops_is_cut() -> None:
    assert joined_events(read_raw(THOUGHT + FINAL.removesuffix("<|return|>")))[-2:] == [
        ("text.end",),
        ("cut",),
    ]


def test_places_tell_where_markers_and_text_stand() -> None:
    events = read_raw(THOUGHT, "well <|channel|>final<|message|>Four.<|return|>more")
    places = [(each["text"], each["place"]) for each in wired(events, "harmony.text")]
    assert places == [
        *(("analysis", "header"), ("Let me\n", "content"), ("think.", "content")),
        *(("well ", "between"), ("final", "header"), ("Four.", "content"), ("more", "after")),
    ]
    between = [e["name"] for e in wired(events, "harmony.marker") if e["place"] == "between"]
    assert between == ["channel"]


@each_row(
    [
        ("<|channel|>final", False, Header("assistant", "final")),
        ("assistant<|channel|>final", True, Header("assistant", "final")),
        ("", False, Header("assistant")),
        ("<|channel|>final", True, Header("", "final")),
        ("user", True, Header("user")),
        (
            "assistant<|channel|>commentary to=functions.f <|constrain|>json",
            True,
            Header("assistant", "commentary", "functions.f", "json"),
        ),
        (
            " to=functions.f<|channel|>commentary<|constrain|>json",
            False,
            Header("assistant", "commentary", "functions.f", "json"),
        ),
        (
            "<|channel|>commentary to=functions.f json",
            False,
            Header("assistant", "commentary", "functions.f", "json"),
        ),
        ("<|channel|>analysis ??", False, Header("assistant", "analysis", rest=("??",))),
        (
            "<|channel|>x to=f <|constrain|>",
            False,
            Header("assistant", "x", "f", rest=("<|constrain|>",)),
        ),
        ("<|channel|>x to=f to=g", False, Header("assistant", "x", "f", rest=("to=g",))),
        ("<|channel|>x to=", False, Header("assistant", "x", rest=("to=",))),
        (
            "functions.f to=assistant<|channel|>commentary",
            True,
            Header("functions.f", "commentary", "assistant"),
        ),
    ]
)
def test_a_header_states(text: str, has_role: bool, header: Header) -> None:
    assert read_header(text, has_role=has_role) == header


def test_chunks_of_a_completion_say_what_the_raw_text_says() -> None:
    text = THOUGHT + FINAL
    pieces = [completion(text[n : n + 3]) for n in range(0, len(text), 3)]
    streamed = joined_events(read_payloads(*pieces, completion("", "stop"), "[DONE]"))
    whole = joined_events(read_payloads(completion(text, "stop"), kind="body"))
    raw = joined_events(read_raw(text))
    assert [e for e in streamed if e[0] != "finish"] == [e for e in raw if e[0] != "finish"]
    assert streamed == whole


def test_choices_are_distinguished() -> None:
    events = read_payloads(completion(THOUGHT), completion(THOUGHT, index=1), "[DONE]")
    assert [e.data["choice"] for e in events if e.type == "thinking.start"] == [0, 1]


def test_an_error_in_place_of_a_body_is_one() -> None:
    [error] = wired(read_payloads({"error": {"message": "no"}}, kind="body"), "harmony.error")
    assert error["is_whole"] is True


def test_a_prompt_is_the_history() -> None:
    prompt = (
        "<|start|>system<|message|>You.\n\nReasoning: high\n<|end|>"
        "<|start|>user<|message|>2 + 2?<|end|>"
        f"<|start|>assistant{THOUGHT}{FINAL}"
        f"<|start|>assistant{THOUGHT}<|start|>assistant"
    )
    request, *items = HARMONY.reader(Reading()).request(Request(json={"prompt": prompt}))
    assert (request.data["effort"], request.data["opens"]) == ("high", "assistant")
    assert [
        (e.data["role"], e.data.get("channel"), e.data["end"], e.data["is_answered"]) for e in items
    ] == [
        ("system", None, "end", True),
        ("user", None, "end", True),
        ("assistant", "analysis", "end", True),
        ("assistant", "final", "return", False),
        ("assistant", "analysis", "end", False),
    ]


@pytest.mark.parametrize("role", ["user", "system", "developer", "functions.look"])
def test_what_a_model_is_given_is_no_answer(role: str) -> None:
    given = f"<|start|>{role}<|message|>Hi<|end|><|start|>assistant"
    assert recognised_dialect(Exchange(chunks=(Chunk(given.encode()),))) is None
    answer = f"<|start|>assistant<|channel|>final<|message|>Hi<|end|>{given}"
    assert recognised_dialect(Exchange(chunks=(Chunk(answer.encode()),))) == "harmony"


@pytest.mark.parametrize("marker", ["<|TRAITS|>", "<|im_start|>", "<|end_of_text|>"])
def test_markers_of_others_are_not_its_own(marker: str) -> None:
    prompt = f"{marker}\nWork in small steps.\n{marker}\n"
    assert recognised_dialect(Exchange(chunks=(Chunk(prompt.encode()),))) is None
    frame = Frame("event", "", "", "", 0)
    assert dialects.recognise(frame, completion(marker)) == "openai.completions"


def test_it_is_recognised_by_its_first_marker() -> None:
    assert recognised_dialect(Exchange(chunks=(Chunk(THOUGHT.encode()),))) == "harmony"
    assert dialects.recognise(Frame("event", "", "", "", 0), completion("<|channel|>")) == "harmony"
    plain = dialects.recognise(Frame("event", "", "", "", 0), completion("Hello"))
    assert plain == "openai.completions"


PARTS = st.sampled_from(
    [
        *("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>", "<|call|>"),
        *("<|constrain|>", "<|other|>", "assistant", "analysis", "final", " to=functions.f"),
        *("\n", "text ", "<|", "|>", "json", "user"),
    ]
)


@given(st.lists(PARTS).map("".join), st.data())
def test_hostile_text_means_the_same_under_any_chunking(text: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(text))))
    cuts = [0, *sorted(places), len(text)]
    chunks = [text[a:b] for a, b in pairwise(cuts)]
    assert read_raw(*chunks) == read_raw(text)
    streamed = read_payloads(*(completion(chunk) for chunk in chunks))
    assert joined_events(streamed) == joined_events(read_payloads(completion(text)))


@pytest.mark.parametrize("marker", SPECIAL_TOKENS.values())
def test_every_marker_that_leaks_into_visible_text_is_found(marker: str) -> None:
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": f"Yes.{marker[:3]}"}}]},
        {"choices": [{"index": 0, "delta": {"content": marker[3:]}}]},
    ]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    report = check_chunks([body.encode()], dialect="openai.chat", suites=["stripping"])
    found = {finding.rule for stream in report.streams for finding in stream.findings}
    assert found & {"stripping/visible-text/no-markers", "stripping/visible-text/no-call-markers"}
