"""The ways of replaying a recording: what each sends, and what a client should see of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.events import Exchange, Request
from conformance.dialects import get
from conformance.judging.transcript import Transcript, read_transcript
from conformance.profiles.profile import Profile, reading
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.case_results import answer_digest
from conformance.targets.client.conversation import (
    AGAIN,
    HELLO,
    case_conversation,
    hello_command,
    in_form_of,
    with_called_tools,
)
from conformance.targets.client.variation import SEEDS, ReplayVariation, replay_variations
from conformance.targets.client.vectors import exchange_vectors, joined_events

NAMES = (
    "openai.chat/deepseek/thinking-then-text",
    "openai.chat/deepseek/tool-round",
    "openai.chat/llamacpp/split-characters",
    "openai.responses/openai/summary-four-parts",
    "anthropic.messages/anthropic/interleaved-thinking",
)


@cache
def exchange_of(name: str) -> tuple[Exchange, Profile]:
    recording = open_recording(shipped.cassettes() / f"{name}.cassette.jsonl")
    dialect = get(str(recording.header.dialect))
    profile, _ = choose_profile(dialect, CheckChoices(), recording.header.profile)
    return recording.exchanges[0], profile


@cache
def ways(name: str) -> tuple[ReplayVariation, ...]:
    exchange, profile = exchange_of(name)
    return tuple(replay_variations(exchange, profile.dialect, "full", edited=True))


def sent(name: str, way: ReplayVariation) -> Transcript:
    profile = exchange_of(name)[1]
    return read_transcript(
        way.sent_exchange(), get(profile.dialect), reading(profile), keep="semantic"
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_must_be_reported_the_same_says_the_same(name: str) -> None:
    same = [way for way in ways(name) if way.kind == "same"]
    whole = joined_events(sent(name, same[0]).client_events)
    assert len(same) > SEEDS + 10
    assert {
        way.name for way in same if joined_events(sent(name, way).client_events) != whole
    } == set()


@pytest.mark.parametrize("name", NAMES)
def test_same_bytes_in_other_pieces_are_the_same_bytes(name: str) -> None:
    body = b"".join(chunk.data for chunk in exchange_of(name)[0].chunks)
    for way in ways(name):
        if way.name.startswith(("recorded", "events", "bytes", "seed")):
            assert b"".join(chunk.data for chunk in way.sent_exchange().chunks) == body


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_cut_after_every_event(name: str) -> None:
    exchange, _ = exchange_of(name)
    cuts = [way for way in ways(name) if way.name.startswith("cut event:")]
    body = exchange.body
    assert len(cuts) == body.count(b"\n\n")
    sizes = [sum(len(chunk.data) for chunk in way.sent_exchange().chunks) for way in cuts]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 0
    assert sizes[-1] < len(body)


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_may_be_reported_as_complete_only_after_the_finish(name: str) -> None:
    for way in ways(name):
        if way.kind == "cut":
            seen = sent(name, way)
            assert seen.client_end == ("either" if seen.finishes else "broken"), way.name


def test_the_edges_hold_what_readers_take_for_line_ends() -> None:
    chat = ways(NAMES[0])
    bodies = {w.name: b"".join(c.data for c in w.sent_exchange().chunks) for w in chat}
    assert "\u2028".encode() in bodies["A-u2028"]
    assert "\u0085".encode() in bodies["A-u0085"]
    assert (
        "\u2028"
        in joined_events(
            sent(NAMES[0], next(w for w in chat if w.name == "A-u2028")).client_events
        )[0]["text"]
    )
    assert bodies["F3-bom"].startswith(b"\xef\xbb\xbf")


NAMED_TALK = "openai.responses/openai/named-talk"


def test_quick_is_the_recording_itself() -> None:
    exchange, profile = exchange_of(NAMES[0])
    assert [w.name for w in replay_variations(exchange, profile.dialect, "quick", edited=True)] == [
        "recorded"
    ]


def test_a_case_says_what_to_ask_and_not_what_to_expect() -> None:
    exchange, profile = exchange_of(NAMES[1])
    conversation = case_conversation(exchange, profile)
    assert set(conversation) == {"model", "messages", "options"}
    assert conversation["messages"] == [
        {"role": "user", "content": "Does the ferry to the island sail today?"}
    ]
    assert [tool["function"]["name"] for tool in conversation["options"]["tools"]] == [
        "get_timetable"
    ]


@pytest.mark.parametrize("number", [1, 2])
def test_a_client_gets_no_result_whose_call_only_the_server_has(number: int) -> None:
    recording = open_recording(shipped.cassettes() / f"{NAMED_TALK}.cassette.jsonl")
    profile, _ = choose_profile(get("openai.responses"), CheckChoices(), None)
    conversation = case_conversation(recording.exchanges[number], profile)
    assert [each["content"] for each in conversation["messages"]] == ["What is 2 + 2?"]


WEATHER = {"name": "weather", "description": "Tells it.", "parameters": {"type": "object"}}
BRIEF = "Be brief."
DECLARED = {
    "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    "systemInstruction": {"parts": [{"text": BRIEF}]},
    "tools": [{"functionDeclarations": [WEATHER]}, {"codeExecution": {}}],
}
SPEC = {"name": "weather", "description": "Tells it.", "inputSchema": {"json": {"type": "object"}}}
OFFERED = {
    ("gemini.generate", "/v1beta/models/gemini-3-pro:generateContent"): DECLARED,
    ("gemini.generate", "/v1/models/gemini-3-pro:streamGenerateContent?alt=sse"): {
        **{key: value for key, value in DECLARED.items() if key != "systemInstruction"},
        "system_instruction": {"parts": [{"text": BRIEF}]},
        "tools": [{"function_declarations": [WEATHER]}],
    },
    ("bedrock.converse", "/model/gemini-3-pro/converse-stream"): {
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "system": [{"text": BRIEF}],
        "toolConfig": {"tools": [{"toolSpec": SPEC}, {"cachePoint": {"type": "default"}}]},
    },
    ("gemini.interactions", "/v1beta/interactions"): {
        "model": "gemini-3-pro",
        "input": "Hi",
        "system_instruction": BRIEF,
        "tools": [{"type": "function", **WEATHER}, {"type": "code_execution"}],
    },
}


@pytest.mark.parametrize(("dialect", "path"), OFFERED)
def test_model_system_and_tools_are_found_where_a_dialect_has_them(dialect: str, path: str) -> None:
    asked = Exchange(request=Request("POST", path, (), OFFERED[dialect, path]))
    profile, _ = choose_profile(get(dialect), CheckChoices(), None)
    conversation = case_conversation(asked, profile)
    (system, _) = conversation["messages"]
    text = system["content"]
    assert conversation["model"] == "gemini-3-pro"
    assert (text if isinstance(text, str) else text[0]["text"]) == BRIEF
    assert conversation["options"]["tools"] == [{"type": "function", "function": WEATHER}]


def test_vectors_hold_every_way_with_its_bytes() -> None:
    path = shipped.cassettes() / f"{NAMES[0]}.cassette.jsonl"
    recording = open_recording(path)
    made = exchange_vectors(recording, recording.exchanges[0])
    assert made is not None
    assert len(made["cases"]) == len([way for way in ways(NAMES[0]) if way.kind != "reset"])
    ends = {case["name"]: case["permitted"]["ends"] for case in made["cases"]}
    assert ends["recorded"] == ["completed"]
    assert ends["cut event:1"] == ["failed", "cut"]
    assert Path(recording.path).name == path.name


TEXTS = st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=6)


@given(TEXTS, st.integers(0, 20))
def test_how_a_text_is_cut_does_not_change_what_was_reported(texts: list[str], at: int) -> None:
    whole = "".join(texts)
    two = [part for part in (whole[:at], whole[at:]) if part]
    assert answer_digest(text_answer(texts)) == answer_digest(text_answer(two))


@given(TEXTS, TEXTS)
def test_other_texts_are_distinguished(one: list[str], other: list[str]) -> None:
    assert (answer_digest(text_answer(one)) == answer_digest(text_answer(other))) == (
        "".join(one) == "".join(other)
    )


def test_an_empty_delta_is_distinguished() -> None:
    assert answer_digest(text_answer(["a"])) != answer_digest(text_answer(["a", ""]))


def text_answer(texts: list[str]) -> AdapterAnswer:
    return AdapterAnswer("completed", tuple({"type": "text.delta", "text": text} for text in texts))


QUESTION = "What is 2 + 2?"


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        ("openai.chat", HELLO),
        ("openai.responses", HELLO),
        ("anthropic.messages", HELLO),
        ("ollama.generate", HELLO),  # it has a prompt, and no messages
        ("gemini.generate", {"role": "user", "parts": [{"text": QUESTION}]}),
        ("bedrock.converse", {"role": "user", "content": [{"text": QUESTION}]}),
    ],
)
def test_a_question_is_in_the_form_of_the_api(dialect: str, message: dict[str, Any]) -> None:
    assert hello_command(dialect)["messages"] == [message]
    assert in_form_of(dialect, AGAIN) != in_form_of(dialect, HELLO)


def test_a_system_message_is_the_same_in_every_api() -> None:
    rules = {"role": "system", "content": "Be brief."}
    assert in_form_of("gemini.generate", rules) == rules


def test_a_function_that_the_answer_calls_is_offered() -> None:
    tides = {"type": "function", "function": {"name": "tides", "parameters": {"type": "string"}}}
    command = {**hello_command("openai.chat"), "options": {"tools": [tides]}}
    calls = [{"name": name, "arguments": "{}"} for name in ("ferries", "tides", "ferries", None)]
    offered = with_called_tools(command, calls)["options"]["tools"]
    plain = {"name": "ferries", "parameters": {"type": "object"}}
    assert offered == [tides, {"type": "function", "function": plain}]
    assert with_called_tools(hello_command("openai.chat"), []) == hello_command("openai.chat")
