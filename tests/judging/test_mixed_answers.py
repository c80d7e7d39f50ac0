"""A stream that holds parts of another answer is one finding, and a second fault another one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, open_recording
from conformance.core.events import Chunk
from conformance.core.shipped import cassettes
from conformance.judging.checker import Checker
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory

Frames = list[bytes]
BOOK: Final = Rulebook.load(())
Mix = Callable[[Frames, Frames], Frames]
ID: Final = re.compile(rb'"(id|response_id|item_id|interaction_id)": ?"([^"]+)"')
SHOWN_BY: Final = {
    "openai.chat/deepseek/thinking-then-text": "wire/chat/same-id",
    "openai.chat/deepseek/parallel-tools": "wire/chat/same-id",
    "mistral.chat/mistral/closed": "wire/chat/same-id",
    "anthropic.messages/anthropic/budget-and-tools": "wire/messages/start-once",
    "cohere.v2/cohere/budget": "wire/cohere/start-once",
    "gemini.interactions/gemini/code-between-thoughts": "wire/interactions/same-id",
    "openai.responses/openai/stored-talk": "wire/responses/response-id",
}


def frames(name: str) -> Frames:
    recording = open_recording(cassettes() / f"{name}.cassette.jsonl")
    body = b"".join(chunk.data for chunk in next(iter(recording.exchanges)).chunks)
    return [frame + b"\n\n" for frame in body.split(b"\n\n") if frame.strip()]


def with_other_ids(stream: Frames) -> Frames:
    return [ID.sub(rb'"\1":"\2Z"', frame) for frame in stream]


def alternating(one: Frames, other: Frames) -> Frames:
    return [frame for pair in zip(one, other, strict=True) for frame in pair]


def inserted(one: Frames, other: Frames) -> Frames:
    return [*one[:-2], *other, *one[-2:]]


def broken(name: str, stream: Frames) -> set[str]:
    recording = open_recording(cassettes() / f"{name}.cassette.jsonl")
    exchange = next(iter(recording.exchanges))
    mixed = replace(exchange, chunks=tuple(Chunk(frame) for frame in stream))
    cassette = Cassette(recording.header, (mixed,))
    held = InMemory(Path("mixed.cassette.jsonl"), "cassette", cassette)
    results = check_recording(held, BOOK, CheckChoices())
    return {finding.rule for each in results for finding in each.findings}


@pytest.mark.parametrize("mix", [alternating, inserted])
@pytest.mark.parametrize("name", SHOWN_BY)
def test_another_answer_in_a_stream_is_one_finding(name: str, mix: Mix) -> None:
    stream = frames(name)
    found = broken(name, mix(stream, with_other_ids(stream)))
    assert found - broken(name, stream) == {SHOWN_BY[name]}


GIVEN_TWICE: Final = {
    **SHOWN_BY,
    "openai.chat/deepseek/thinking-then-text": "wire/chat/role-once",
    "openai.chat/deepseek/parallel-tools": "wire/chat/role-once",
    "mistral.chat/mistral/closed": "wire/chat/role-once",
    "gemini.interactions/gemini/code-between-thoughts": "wire/interactions/created-once",
    "openai.responses/openai/stored-talk": "wire/responses/created-once",
    "openai.responses/deepseek/raw-talk": "wire/responses/created-once",
}


@pytest.mark.parametrize("name", GIVEN_TWICE)
def test_an_answer_that_is_given_twice_is_one_finding(name: str) -> None:
    stream = frames(name)
    assert broken(name, [*stream, *stream]) == {GIVEN_TWICE[name]}


def test_on_a_connection_too(tmp_path: Path) -> None:
    """Among the answers before and after it."""
    source = cassettes() / "openai.responses/socket/live-session.cassette.jsonl"
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    said = [at for at, line in enumerate(lines) if line.get("from") == "client"]
    again = lines[said[1] + 1 : said[2]]
    lines = [
        {key: value for key, value in line.items() if key not in ("chunks", "bytes", "sha256")}
        for line in [*lines[: said[2]], *again, *lines[said[2] :]]
    ]
    path = tmp_path / "twice.cassette.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    results = check_recording(open_recording(path), BOOK, CheckChoices())
    assert [found.rule for each in results for found in each.findings] == [
        "wire/responses/created-once"
    ]


# Without a request each answer is judged by itself, and the first one lacks its end.
WITHOUT_REQUEST: Final = {
    "openai.chat/openrouter/talk": ("openai.chat", "wire/chat/same-id"),
    "openai.chat/openrouter/signed-details": ("openai.chat", "wire/chat/same-id"),
    "anthropic.messages/anthropic/budget-and-tools": (
        "anthropic.messages",
        "wire/messages/stop-present",
    ),
    "openai.responses/openai/stored-talk": ("openai.responses", "wire/responses/terminal-present"),
    "cohere.v2/cohere/budget": ("cohere.v2", "wire/cohere/end-present"),
    "gemini.interactions/gemini/code-between-thoughts": (
        "gemini.interactions",
        "wire/interactions/end-present",
    ),
}


@pytest.mark.parametrize("name", WITHOUT_REQUEST)
def test_another_answer_is_one_finding_without_a_request_too(name: str) -> None:
    dialect, rule = WITHOUT_REQUEST[name]
    stream, checker = frames(name), Checker(dialect, profile=name.split("/")[1])
    found = checker.check([b"".join(alternating(stream, with_other_ids(stream)))]).findings
    usual = checker.check([b"".join(stream)]).findings
    assert {each.rule for each in found} - {each.rule for each in usual} == {rule}


@pytest.mark.parametrize("name", ["talk", "signed-details"])
def test_another_answer_where_every_chunk_has_its_role(name: str) -> None:
    path = f"openai.chat/openrouter/{name}"
    stream = frames(path)
    for mix in (alternating, inserted):
        assert broken(path, mix(stream, with_other_ids(stream))) == {"wire/chat/same-id"}


CHAT: Final = "openai.chat/deepseek/thinking-then-text"


def chunk(number: int, choice: dict[str, Any], **more: Any) -> bytes:
    head = {"id": f"c{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": [choice], **more}).encode() + b"\n\n"


def text_chunk(number: int, text: str, *, of: int = 0, **delta: Any) -> bytes:
    delta = {"content": text, **delta}
    return chunk(number, {"index": of, "delta": delta, "finish_reason": None})


def finished(number: int, *, of: int = 0, **delta: Any) -> bytes:
    return chunk(number, {"index": of, "delta": delta, "finish_reason": "stop"})


def test_what_names_another_answer_in_one_frame_is_one_finding() -> None:
    stream = frames(CHAT)
    at = len(stream) // 2
    other = re.sub(rb'"created": ?[0-9]+', b'"created":1', with_other_ids(stream)[at])
    assert broken(CHAT, [*stream[:at], other, *stream[at + 1 :]]) == {"wire/chat/same-id"}


def test_ids_that_are_made_again_hide_no_second_fault() -> None:
    stream = [
        text_chunk(1, "", role="assistant"),
        text_chunk(2, "High water is at nine."),
        finished(3),
    ]
    found = broken(CHAT, [*stream, finished(4), b"data: [DONE]\n\n"])
    assert {"wire/chat/same-id", "wire/chat/finish-once"} <= found


def test_a_fault_of_a_choice_that_another_answer_lacks_is_one_of_its_own() -> None:
    both = [text_chunk(1, "", of=of, role="assistant") for of in (0, 1)]
    stream = [*both, text_chunk(1, "Nine.", of=0), text_chunk(1, "Ten.", of=1), finished(1, of=1)]
    other = [text_chunk(2, "", role="assistant"), text_chunk(2, "Eleven."), finished(2)]
    ends = [finished(1, of=1), finished(1), b"data: [DONE]\n\n"]
    found = broken(CHAT, [*stream, *other, *ends])
    assert {"wire/chat/same-id", "wire/chat/finish-once"} <= found
    assert "wire/chat/role-once" not in found


@pytest.mark.parametrize("text", ["", "Nine."])
def test_a_role_in_each_delta_hides_no_second_end(text: str) -> None:
    """As an OpenAI-compatible server sends calls and end, and the end with its counts again."""
    begun = text_chunk(1, "High water ", role="assistant")
    ends = [finished(1, role="assistant", content=text), finished(1, role="assistant", content="")]
    found = broken(CHAT, [begun, *ends, b"data: [DONE]\n\n"])
    assert {"wire/chat/role-once", "wire/chat/finish-once"} <= found


def test_a_marker_next_to_another_answer_is_one_of_its_own() -> None:
    stream = frames(CHAT)
    marked = [frame.replace(b'"content":"', b'"content":"</think>', 1) for frame in stream]
    found = broken(CHAT, inserted(marked, with_other_ids(marked)))
    assert {"wire/chat/same-id", "stripping/visible-text/no-markers"} <= found


def test_an_answer_that_is_cut_hides_no_fault_of_the_next_one() -> None:
    """Without a request, and with an end too many."""
    stream = frames(CHAT)
    marked = [frame.replace(b'"content":"', b'"content":"</think>', 1) for frame in stream]
    bytes_of_both = b"".join([*stream[:-1], *with_other_ids(marked), stream[-1]])
    found = Checker("openai.chat", profile="deepseek").check([bytes_of_both]).findings
    assert {"wire/chat/done-present", "stripping/visible-text/no-markers"} <= {
        each.rule for each in found
    }
