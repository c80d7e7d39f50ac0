"""The client under test: the protocol, line by line, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pytest

from reference_impl.client.apis import OF_DIALECT
from reference_impl.client.defects import DEFECTS
from tests.reference.client_server import Script, playing

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "reference_impl.client", "harness")
START = {"cmd": "start", "version": 1}
THINKING = b'data: {"id":"c","choices":[{"index":0,"delta":{"reasoning_content":"2 + 2"}}]}\n\n'
CALL = {"index": 0, "id": "c1", "function": {"name": "calculator", "arguments": "{}"}}
CALLING = json.dumps(
    {"choices": [{"delta": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]}
)
DONE = b"data: [DONE]\n\n"
TOOL_TURN = (THINKING, f"data: {CALLING}\n\n".encode(), DONE)
TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"4."},"finish_reason":"stop"}]}\n\n'


class Adapter:
    """A running harness."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._input = cast("IO[bytes]", process.stdin)
        self._output = cast("IO[bytes]", process.stdout)

    def send(self, command: dict[str, Any] | str) -> None:
        line = command if isinstance(command, str) else json.dumps(command)
        self._input.write(line.encode() + b"\n")
        self._input.flush()

    def line(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self._output.readline())
        return read

    def ask(self, command: dict[str, Any] | str) -> dict[str, Any]:
        self.send(command)
        return self.line()

    def stream(self, command: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The events of a stream, and the line that ends it."""
        self.send({"cmd": "stream", **command})
        return self.events_and_end(command["seq"])

    def events_and_end(self, seq: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The events up to the line that ends them, and that line."""
        events = []
        while "event" in (line := self.line()):
            assert line["seq"] == seq
            events.append(line["event"])
        return events, line

    def rest(self) -> bytes:
        self._input.close()
        return self._output.read()


@contextmanager
def adapter(*arguments: str) -> Iterator[Adapter]:
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield Adapter(process)
        if process.stdin and not process.stdin.closed:
            process.stdin.close()


@pytest.fixture(scope="module")
def harness() -> Iterator[Adapter]:
    with adapter() as running:
        yield running


def case(seq: str, base_url: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "What is 2 + 2?"}]
    plain = {"seq": seq, "dialect": "openai.chat", "base_url": base_url, "model": "m"}
    return {**plain, "messages": messages, "options": {}, "deadline_ms": 10_000, **more}


def test_it_introduces_itself(harness: Adapter) -> None:
    answer = harness.ask(START)
    about = answer["implementation"]
    assert answer["version"] == 1
    assert about["ops"] == ["stream", "next_request", "extract", "restore", "store"]
    assert about["dialects"] == list(OF_DIALECT)
    assert "thinking.delta" in about["events"]
    assert about["features"] == ["choices"]


def test_another_version_is_refused(harness: Adapter) -> None:
    assert "version" not in harness.ask({"cmd": "start", "version": 2})


def test_a_stream_is_reported_event_by_event(harness: Adapter) -> None:
    with playing(Script((THINKING, TEXT, DONE))) as played:
        events, last = harness.stream(case("7", played.base_url))
    assert last == {"seq": "7", "end": {"how": "completed"}}
    assert [event["type"] for event in events] == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta", "text.end", "finish", "done"),
    ]


def test_events_are_reported_as_they_happen(harness: Adapter) -> None:
    with playing(Script((THINKING,), ending="hold")) as played:
        harness.send({"cmd": "stream", **case("8", played.base_url, deadline_ms=60_000)})
        # The server never goes on, so these lines can only have come while it was silent.
        early = [harness.line()["event"]["type"] for _ in range(3)]
    events, last = harness.events_and_end("8")
    assert early == ["message.start", "thinking.start", "thinking.delta"]
    assert [event["type"] for event in events] == ["thinking.end", "cut"]
    assert last["end"] == {"how": "cut"}


def test_the_deadline_is_obeyed(harness: Adapter) -> None:
    with playing(Script((THINKING,), ending="hold")) as played:
        events, last = harness.stream(case("9", played.base_url, deadline_ms=300))
    assert events[-1]["how"] == "idle-timeout"
    assert last["end"] == {"how": "cut"}


def test_an_error_ends_in_failure(harness: Adapter) -> None:
    with playing(Script((b'{"error":{"message":"no"}}',), 500, "application/json")) as played:
        events, last = harness.stream(case("10", played.base_url))
    assert [(event["type"], event.get("status")) for event in events][:1] == [("error", 500)]
    assert last["end"] == {"how": "failed"}


def test_nobody_there_is_a_failure_of_the_stream(harness: Adapter) -> None:
    events, last = harness.stream(case("11", "http://127.0.0.1:1/v1"))
    assert [event["code"] for event in events] == ["unreachable"]
    assert last["end"] == {"how": "failed"}


def test_the_next_request_goes_on_from_a_stream(harness: Adapter) -> None:
    with playing(Script(TOOL_TURN)) as played:
        harness.stream(case("12", played.base_url))
        result = {"role": "tool", "tool_call_id": "c1", "content": "4"}
        options = {"effort": "low", "include_thinking": True}
        more = {"after": "12", "adds": [result], "options": options}
        answer = harness.ask({"cmd": "next_request", **case("13", played.base_url, **more)})
    request = answer["request"]
    assert (request["method"], request["path"]) == ("POST", "/v1/chat/completions")
    assert ["x-include-thinking", "true"] in request["headers"]
    assert request["json"]["reasoning_effort"] == "low"
    user, assistant, tool = request["json"]["messages"]
    assert user["content"] == "What is 2 + 2?"
    assert assistant["reasoning_content"] == "2 + 2"
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"] == "c1"


def test_the_next_request_reads_whole_messages(harness: Adapter) -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "a", "signature": "S"}]},
    ]
    more = {"dialect": "anthropic.messages", "messages": messages}
    answer = harness.ask({"cmd": "next_request", **case("14", "", **more)})
    assert answer["request"]["path"] == "/v1/messages"
    assert answer["request"]["json"]["messages"][1] == messages[1]


def test_a_message_and_a_stored_turn_are_reported_in_events(harness: Adapter) -> None:
    message = {"role": "assistant", "content": "4.", "reasoning": "2 + 2"}
    extracted = harness.ask({"cmd": "extract", "seq": "15", "message": message})
    stored = {"args": {"thought": {"text": "4.", "reasoning_content": "2 + 2"}}}
    restored = harness.ask({"cmd": "restore", "seq": "16", "stored": stored})
    assert extracted["events"] == restored["events"]
    texts = [event["text"] for event in extracted["events"] if "text" in event]
    assert texts == ["2 + 2", "4."]


SKIPPED = [
    {"cmd": "levitate", "seq": "20"},
    {"cmd": None, "seq": "21"},
    {"cmd": "stream", **case("22", "http://127.0.0.1:1", dialect="klingon")},
    {"cmd": "stream", **case("23", "http://127.0.0.1:1", options={"telepathy": True})},
    {"cmd": "stream", **case("24", "http://127.0.0.1:1", options={"effort": "utmost"})},
    {"cmd": "next_request", **case("25", "", after="nothing")},
    {"cmd": "extract", "seq": "26", "dialect": "klingon", "message": {}},
]


@pytest.mark.parametrize("command", SKIPPED, ids=lambda command: str(command["seq"]))
def test_unknown_case_is_skipped_with_reason(harness: Adapter, command: dict[str, Any]) -> None:
    answer = harness.ask(command)
    assert set(answer) == {"seq", "skipped"}
    assert answer["seq"] == command["seq"]
    assert answer["skipped"].startswith(("unknown ", "no stream "))


ODD = [
    "no JSON",
    "[1]",
    '{"cmd": ["stream"]}',
    '{"cmd": "extract", "seq": "30", "message": 7}',
    '{"cmd": "restore", "seq": "31", "stored": {"args": []}}',
    '{"cmd": "stream", "seq": "32", "dialect": "openai.chat", "options": {"tools": [1]}}',
    '{"cmd": "next_request", "dialect": "openai.chat", "messages": [{"role": 7}, null]}',
    '{"cmd": "next_request", "dialect": "openai.chat", "options": {"tools": [{"function": 1}]}}',
]


@pytest.mark.parametrize("line", ODD)
def test_an_odd_line_ends_nothing(harness: Adapter, line: str) -> None:
    harness.send(line)
    harness.events_and_end("32")
    assert harness.ask({"cmd": "levitate", "seq": "40"})["seq"] == "40"


def test_stop_ends_it_and_nothing_else_was_written() -> None:
    with adapter() as running:
        running.ask(START)
        running.send({"cmd": "stop"})
        assert running.rest() == b""
        assert running.process.wait(timeout=30) == 0


def test_the_end_of_input_ends_it_too() -> None:
    with adapter() as running:
        assert running.rest() == b""
        assert running.process.wait(timeout=30) == 0


def test_a_defect_is_switched_on_by_name() -> None:
    with (
        playing(Script((THINKING, TEXT, DONE))) as played,
        adapter("--defect", "marker-leak") as it,
    ):
        events, last = it.stream(case("7", played.base_url))
    assert [event["text"] for event in events if event["type"] == "text.delta"] == ["</think>4."]
    assert last["end"] == {"how": "completed"}


def test_a_cut_is_sold_as_an_answer_by_that_defect_alone() -> None:
    with playing(Script((THINKING,))) as played, adapter("--defect", "completed-on-cut") as it:
        assert it.stream(case("7", played.base_url))[1]["end"] == {"how": "completed"}


@pytest.mark.parametrize("command", [COMMAND, COMMAND[:-1]])
def test_defects_are_listed_one_a_line(command: tuple[str, ...]) -> None:
    listed = subprocess.run(
        [*command, "--list-defects"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in listed.stdout.splitlines()]
    assert [row[0] for row in rows] == list(DEFECTS)
    assert {len(row) for row in rows} == {3}
