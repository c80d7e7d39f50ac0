"""Messages: engine events to content blocks, and thinking that comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference_impl.server.app import application
from reference_impl.server.engine import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    ReasoningDelta,
    Start,
    TextDelta,
)
from reference_impl.server.messages import Display, MessagesShape, MessagesStream
from reference_impl.server.projection import Stamp
from reference_impl.server.sealing import Seal
from reference_impl.server.service import Service
from reference_impl.server.settings import Settings
from reference_impl.server.wire import Wire
from tests.reference.driving import Answer, ask_blocking
from tests.reference.scripted_engine import CALL, CALLED, DONE, THINK, USAGE, ScriptedEngine
from tests.reference.turns import events, messages_turns

PATH = "/v1/messages"
KEY = b"k" * 32
SIGNATURE = Seal(KEY, "signature")
REDACTION = Seal(KEY, "redaction")
ON = {"type": "enabled", "budget_tokens": 50}


def wires(said: tuple[EngineEvent, ...], display: Display = "shown") -> list[Wire]:
    shape = MessagesShape("m", SIGNATURE, REDACTION, display)
    stream = MessagesStream(shape, Stamp(token=lambda: "1", clock=lambda: 0.0))
    return [*stream.opening(), *(wire for event in said for wire in stream.feed(event))]


def story(sent: list[Wire]) -> list[str]:
    """Types, with the index and the kind of what they are about."""
    told_of = []
    for wire in sent:
        data: Any = wire.data
        kind = data.get("content_block", data.get("delta", {})).get("type", "")
        told_of.append(" ".join(filter(None, [data["type"], str(data.get("index", "")), kind])))
    return told_of


OPENING = ["message_start"]
CLOSING = ["message_delta", "message_stop"]
ANSWER = ["content_block_start 1 text", "content_block_delta 1 text_delta", "content_block_stop 1"]


@pytest.mark.parametrize(
    ("display", "thought"),
    [
        (
            "shown",
            [
                "content_block_start 0 thinking",
                "content_block_delta 0 thinking_delta",
                "content_block_delta 0 thinking_delta",
                "content_block_delta 0 signature_delta",
                "content_block_stop 0",
            ],
        ),
        (
            "omitted",
            [
                "content_block_start 0 thinking",
                "content_block_delta 0 signature_delta",
                "content_block_stop 0",
            ],
        ),
        ("redacted", ["content_block_start 0 redacted_thinking", "content_block_stop 0"]),
    ],
)
def test_thinking_is_displayed_as_chosen(display: Display, thought: list[str]) -> None:
    first, *rest = thought
    sent = story(wires((*THINK, DONE), display))
    assert sent == [*OPENING, first, "ping", *rest, *ANSWER, *CLOSING]


@pytest.mark.parametrize("display", ["shown", "omitted", "redacted"])
def test_opaque_data_holds_the_thinking(display: Display) -> None:
    sent: list[Any] = [wire.data for wire in wires((*THINK, DONE), display)]
    if display == "redacted":
        (data,) = (
            e["content_block"]["data"] for e in sent if e.get("content_block", {}).get("data")
        )
        assert REDACTION.open(data) == "2 plus 2."
    else:
        (data,) = (e["delta"]["signature"] for e in sent if "signature" in e.get("delta", {}))
        assert SIGNATURE.open(data) == "2 plus 2."


def test_call_is_a_block_of_its_own() -> None:
    events = (Start(7), TextDelta("So: "), CALL, CALL, Finish("tool_calls", USAGE))
    sent = wires(events)
    assert story(sent)[1:-2] == [
        "content_block_start 0 text",
        "ping",
        "content_block_delta 0 text_delta",
        "content_block_stop 0",
        "content_block_start 1 tool_use",
        "content_block_delta 1 input_json_delta",
        "content_block_stop 1",
        "content_block_start 2 tool_use",
        "content_block_delta 2 input_json_delta",
        "content_block_stop 2",
    ]


@pytest.mark.parametrize(
    ("finish", "reason", "string"),
    [
        (Finish("stop", USAGE), "end_turn", None),
        (Finish("stop", USAGE, "END"), "stop_sequence", "END"),
        (Finish("length", USAGE), "max_tokens", None),
        (Finish("tool_calls", USAGE), "tool_use", None),
    ],
)
def test_stop_reason_is_reported(finish: Finish, reason: str, string: str | None) -> None:
    *_, delta, _ = (wire.data for wire in wires((*THINK, finish)))
    assert isinstance(delta, dict)
    assert delta["delta"] == {"stop_reason": reason, "stop_sequence": string}
    assert delta["usage"]["output_tokens_details"] == {"thinking_tokens": 6}


def test_thinking_after_text_is_another_block() -> None:
    events = (Start(7), TextDelta("a"), ReasoningDelta("b", 1), TextDelta("c"), DONE)
    starts = [each for each in story(wires(events)) if "start " in each]
    assert starts == [
        "content_block_start 0 text",
        "content_block_start 1 thinking",
        "content_block_start 2 text",
    ]


def asked(
    *scripts: tuple[EngineEvent | EngineError, ...],
    settings: Settings = Settings(),  # noqa: B008 - frozen
    **fields: Any,
) -> tuple[Answer, ScriptedEngine]:
    engine = ScriptedEngine(scripts or [(*THINK, DONE)])
    body = {
        "model": "scripted",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "2 + 2?"}],
        **fields,
    }
    return ask_blocking(application(Service(engine, settings, key=KEY)), PATH, body), engine


def test_body_is_the_stream_put_together() -> None:
    answer, _ = asked((*THINK, CALL, Finish("tool_calls", USAGE)), thinking=ON)
    thinking, text, tool = answer.json["content"]
    assert (thinking["thinking"], text["text"], tool["input"]) == ("2 plus 2.", "4", {"a": 2})
    assert SIGNATURE.open(thinking["signature"]) == "2 plus 2."
    assert answer.json["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("fields", "thinks", "budget"),
    [
        ({}, False, None),
        ({"thinking": {"type": "disabled"}}, False, None),
        ({"thinking": ON}, True, 50),
        ({"thinking": {"type": "adaptive"}}, True, None),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, True, 64),
    ],
)
def test_thinking_is_asked_for(fields: dict[str, Any], thinks: bool, budget: int | None) -> None:
    _, engine = asked(**fields)
    assert engine.asked[0].thinking is thinks
    assert engine.calls[0].limits == Limits(max_tokens=100, thinking_budget=budget)


def follow_up(sent: Answer, alter: Any = None, **settings: Any) -> tuple[Answer, ScriptedEngine]:
    """A second turn that carries the first one's blocks, altered or not."""
    fields = {"messages": [{"role": "user", "content": "2 + 2?"}]}
    carried: Any = messages_turns(fields, sent.data, "4")
    if alter is not None:
        alter(carried["messages"][1]["content"][0])
    return asked(messages=carried["messages"], thinking=ON, **settings)


@pytest.mark.parametrize(
    ("settings", "thinking"),
    [
        (Settings(), ON),
        (Settings(), {"type": "adaptive", "display": "omitted"}),
        (Settings(messages_thinking="redacted"), ON),
    ],
)
def test_thinking_can_be_sent_back(settings: Settings, thinking: dict[str, Any]) -> None:
    first, _ = asked(CALLED, settings=settings, stream=True, thinking=thinking)
    answer, engine = follow_up(first)
    assert answer.status == 200
    assert engine.asked[0].messages[1]["reasoning_content"] == "2 plus 2."
    assert engine.asked[0].messages[2]["role"] == "tool"


@pytest.mark.parametrize(
    "alter",
    [
        lambda block: block.update(signature=block["signature"][:-2] + "AA"),
        lambda block: block.update(signature=""),
        lambda block: block.update(thinking="2 plus 3."),
        lambda block: block.update(signature=Seal(b"other", "signature").seal("2 plus 2.")),
        lambda block: block.update(signature=REDACTION.seal("2 plus 2.")),
    ],
)
def test_altered_thinking_is_refused(alter: Any) -> None:
    first, _ = asked(CALLED, stream=True, thinking=ON)
    answer, engine = follow_up(first, alter)
    assert answer.status == 400
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert "messages.1.content.0" in answer.json["error"]["message"]
    assert engine.calls == []


def test_altered_redacted_thinking_is_refused() -> None:
    settings = Settings(messages_thinking="redacted")
    first, _ = asked(CALLED, settings=settings, stream=True, thinking=ON)
    answer, _ = follow_up(first, lambda block: block.update(data=block["data"][4:]))
    assert answer.status == 400


def test_failing_engine_is_the_last_event() -> None:
    answer, _ = asked((*THINK[:2], EngineError("broken")), stream=True, thinking=ON)
    last = list(events(answer.data))[-1]
    assert last == {"type": "error", "error": {"type": "api_error", "message": "broken"}}
    assert b"message_stop" not in answer.data


def test_failing_engine_is_an_error_of_the_body() -> None:
    answer, _ = asked((*THINK[:2], EngineError("broken")), thinking=ON)
    assert (answer.status, json.loads(answer.data)["type"]) == (500, "error")


def test_stop_sequences_and_system_reach_the_engine() -> None:
    _, engine = asked(stop_sequences=["x"], system=[{"type": "text", "text": "Be short."}])
    assert engine.calls[0].limits.stop == ("x",)
    assert engine.asked[0].messages[0] == {"role": "system", "content": "Be short."}
