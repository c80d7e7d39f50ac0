"""opencode: what a client shows of the steps and parts of a run."""

from __future__ import annotations

import pytest

from tests.authoring.opencode import (
    begun,
    failed_tool,
    failure,
    run,
    step,
    text_part,
    thought,
    tool,
)
from tests.authoring.pieces import Fields
from tests.dialects.streams import Payload, PayloadReader

READER = PayloadReader("opencode.run")
READ = tool("c", "read", {"filePath": "a"}, "b")
LOST = failed_tool("c", "read", {"filePath": "a"}, "not found")


def payloads(*lines: Fields) -> list[Payload]:
    return [each.payload for each in run(lines)]


def ends(*lines: Fields) -> list[str]:
    kinds = {"finish", "usage", "error", "done", "cut"}
    return [kind for kind, _ in READER.semantic(*payloads(*lines)) if kind in kinds]


def test_parts_come_whole() -> None:
    assert READER.semantic(*payloads(*step([thought("so"), text_part("Hi")], reasoning=7))) == [
        ("message.start", {"role": "assistant", "id": "msg_0"}),
        ("step.start", {"step": 0}),
        ("thinking.start", {"block": 0, "channel": "raw", "explicit": True, "id": "prt_1"}),
        ("thinking.delta", {"block": 0, "channel": "raw", "text": "so"}),
        ("thinking.end", {"block": 0, "explicit": True}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("step.end", {"step": 0}),
        ("finish", {"reason": "stop"}),
        ("usage", {"input": 40, "output": 27, "reasoning": 7}),
        ("done", {"explicit": True}),
    ]


@pytest.mark.parametrize("called", [READ, LOST])
def test_a_tool_is_a_call_that_is_carried_out_here(called: Fields) -> None:
    found = dict(READER.semantic(*payloads(*step([called], "tool-calls"))))
    named = {"index": 0, "id": "c", "name": "read", "hosted": True}
    assert found["tool.start"] == named
    assert found["tool.end"] == {**named, "arguments": '{"filePath":"a"}'}


def test_tokens_of_a_run_are_those_of_its_steps() -> None:
    lines = [*step([READ], "tool-calls", 5), *step([text_part("Hi")], reasoning=2)]
    found = dict(READER.semantic(*payloads(*lines)))
    assert found["usage"] == {"input": 80, "output": 47, "reasoning": 7}


def test_what_is_cached_is_input_and_reasoning_is_output() -> None:
    lines = payloads(*step([text_part("Hi")], reasoning=2))
    lines[-1]["part"]["tokens"]["cache"] = {"read": 100, "write": 1000}
    assert dict(READER.semantic(*lines))["usage"] == {"input": 1140, "output": 22, "reasoning": 2}


IDLE: Fields = {"type": "done", "reason": "idle", "rejected": ["bash"]}
BUSY = failure("APIError", "busy", statusCode=503)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (step([text_part("Hi")]), ["finish", "usage", "done"]),
        (step([text_part("Hi")], "length"), ["finish", "usage", "done"]),
        # The model is asked again: for a tool whatever the reason, and without a reason.
        (step([READ], "tool-calls"), ["cut"]),
        (step([READ]), ["cut"]),
        (step([text_part("Hi")], "unknown"), ["cut"]),
        (step([text_part("Hi")], ""), ["cut"]),
        ([*step([READ], "tool-calls"), *step([text_part("Hi")])], ["finish", "usage", "done"]),
        # A step without an end, and one that is tried again.
        (begun([thought("so")]), ["cut"]),
        ([*begun([thought("so")]), *step([text_part("Hi")])], ["finish", "usage", "done"]),
        # A line that later releases end with.
        ([*step([READ], "tool-calls"), IDLE], ["usage", "done"]),
        ([*step([text_part("Hi")]), IDLE], ["finish", "usage", "done"]),
        ([BUSY], ["error"]),
        ([*begun([thought("so")]), BUSY], ["error"]),
        ([*step([text_part("Hi")], "content-filter"), BUSY], ["finish", "usage", "done", "error"]),
    ],
)
def test_what_comes_to_an_end(lines: list[Fields], wanted: list[str]) -> None:
    assert ends(*lines) == wanted


def test_an_error_says_its_name_its_message_and_its_status() -> None:
    found = dict(READER.semantic(*payloads(BUSY)))
    assert found["error"] == {"code": "APIError", "message": "busy", "status": 503}


def test_a_step_after_the_end_begins_the_next_answer() -> None:
    hi = step([text_part("Hi")])
    turns = [*run(hi), *run(hi, first=3), *run(hi, session="ses_2")]
    events = READER.read(*(each.payload for each in turns))
    assert [each.answer for each in events if each.type == "text.delta"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("parts", "reason", "did"),
    [
        ([text_part("Hi")], "stop", (True, False, False)),
        ([text_part(" ")], "unknown", (False, False, True)),
        ([READ], "stop", (False, True, True)),
        ([LOST], "tool-calls", (False, True, True)),
    ],
)
def test_step_end_is_read(parts: list[Fields], reason: str, did: tuple[bool, bool, bool]) -> None:
    (end,) = [e for e in READER.read(*payloads(*step(parts, reason))) if e.type == "step_finish"]
    assert (end.data["spoke"], end.data["called"], end.data["goes_on"]) == did
    assert end.data["step"] == 1
