"""The UI message stream: what a client shows of its parts, whatever order they come in."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.core.events import Event, Request
from conformance.dialects import get
from conformance.dialects.requests import Continuation, Question
from conformance.dialects.vercel_ui import held
from conformance.dialects.vercel_ui.parts import opaque_data
from conformance.dialects.vercel_ui.reader import KnownCalls
from tests.dialects.streams import PayloadReader

READER = PayloadReader("vercel.ui", "event", "[DONE]")
read, said, kinds = READER.read, READER.semantic, READER.kinds


def test_a_step_with_thinking_and_text() -> None:
    assert said(
        {"type": "start", "messageId": "m"},
        {"type": "start-step"},
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-delta", "id": "r", "delta": "so"},
        {"type": "reasoning-end", "id": "r"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": "Hi"},
        {"type": "text-end", "id": "t"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "tool-calls"},
    ) == [
        ("message.start", {"role": "assistant", "id": "m"}),
        ("step.start", {"step": 0}),
        ("thinking.start", {"block": 0, "channel": "raw", "explicit": True, "id": "r"}),
        ("thinking.delta", {"block": 0, "channel": "raw", "text": "so"}),
        ("thinking.end", {"block": 0, "explicit": True}),
        ("text.start", {"block": 1}),
        ("text.delta", {"block": 1, "text": "Hi"}),
        ("text.end", {"block": 1}),
        ("step.end", {"step": 0}),
        ("finish", {"reason": "tool_calls"}),
        ("done", {"explicit": True}),
    ]


def test_parts_are_found_by_kind_and_id() -> None:
    deltas = [
        {"type": "text-start", "id": "0"},
        {"type": "reasoning-start", "id": "0"},
        {"type": "text-delta", "id": "0", "delta": "a"},
        {"type": "reasoning-delta", "id": "0", "delta": "b"},
    ]
    found = [(kind, data["block"]) for kind, data in said(*deltas) if kind.endswith("delta")]
    assert found == [("text.delta", 0), ("thinking.delta", 1)]


def test_a_delta_that_nobody_announced_begins_a_part_that_is_not_explicit() -> None:
    (start, _, end, _) = said({"type": "reasoning-delta", "id": "r", "delta": "so"})
    assert start == ("thinking.start", {"block": 0, "channel": "raw", "explicit": False, "id": "r"})
    assert end == ("thinking.end", {"block": 0, "explicit": False})


def test_the_end_of_a_step_ends_what_is_open_and_ids_may_come_again() -> None:
    part = {"type": "reasoning-start", "id": "0"}
    step = [{"type": "start-step"}, part, {"type": "finish-step"}]
    found = said(*step, *step)
    assert [data["block"] for kind, data in found if kind == "thinking.start"] == [0, 1]
    assert [data["explicit"] for kind, data in found if kind == "thinking.end"] == [False, False]
    assert [data for kind, data in found if kind == "step.end"] == [{"step": 0}, {"step": 1}]


def test_a_call_has_its_input_from_deltas_or_whole() -> None:
    named = {"toolCallId": "c", "toolName": "clock"}
    whole = {"type": "tool-input-available", **named, "input": {"zone": "UTC"}}
    piece = {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"zone":"UTC"}'}
    for parts in (
        [{"type": "tool-input-start", **named}, piece, whole],
        [{"type": "tool-input-start", **named}, whole],
        [whole],
    ):
        ends = [data for kind, data in said(*parts) if kind == "tool.end"]
        assert ends == [{"index": 0, "id": "c", "name": "clock", "arguments": '{"zone":"UTC"}'}]


def test_a_call_of_the_provider_is_hosted() -> None:
    start = {"type": "tool-input-start", "toolCallId": "c", "toolName": "search"}
    assert said({**start, "providerExecuted": True})[0][1]["hosted"] is True


def test_an_abort_ends_the_thinking_and_is_the_reason() -> None:
    found = said({"type": "reasoning-start", "id": "r"}, {"type": "abort"})
    assert [kind for kind, _ in found][1:] == ["thinking.end", "finish", "done"]
    assert ("finish", {"reason": "abort"}) in found


def test_an_error_does_not_end_the_stream() -> None:
    found = said({"type": "error", "errorText": "no"}, {"type": "finish", "finishReason": "error"})
    assert found[0] == ("error", {"code": "", "message": "no", "final": False})
    assert [kind for kind, _ in found] == ["error", "finish", "done"]


def test_without_the_sentinel_the_stream_was_cut() -> None:
    assert kinds({"type": "finish", "finishReason": "stop"}, done=False) == ["finish", "cut"]


@pytest.mark.parametrize(
    ("provider", "found"),
    [
        ({"anthropic": {"signature": "s"}}, [("signature", "s")]),
        ({"anthropic": {"redactedData": "r"}}, [("redacted", "r")]),
        ({"openai": {"itemId": "rs", "reasoningEncryptedContent": "e"}}, [("encrypted", "e")]),
        ({"google": {"thoughtSignature": "g"}}, [("signature", "g")]),
        ({"anthropic": {"signature": None}}, []),
        ({"anthropic": "odd"}, []),
        ("odd", []),
    ],
)
def test_opaque_data_is_found_below_any_provider(provider: Any, found: list[Any]) -> None:
    assert list(opaque_data({"providerMetadata": provider})) == found


OUTPUT = {"toolCallId": "c", "output": 4}
USER = {"role": "user", "parts": [{"type": "text", "text": "2 + 2?"}]}
CALLER = {"role": "assistant", "parts": [{"type": "tool-add", "toolCallId": "c"}]}


def known_output(*kinds: str, messages: Any = None) -> dict[str, bool]:
    """What the reader says of an output after parts of these kinds, all of the call `c`."""
    calls = KnownCalls()
    if messages is not None:
        calls.read_request(Request("POST", "/", (), {"messages": messages}))
    for kind in kinds:
        calls.about(kind, {"toolCallId": "c"})
    return calls.about("tool-output-available", OUTPUT)


@pytest.mark.parametrize(
    ("kinds", "messages", "wanted"),
    [
        (("tool-input-start", "tool-input-available"), None, {"call_known": True}),
        (("tool-input-start", "tool-input-error"), None, {"call_known": True}),
        # Half of a call is none yet.
        (("tool-input-start",), None, {"call_known": False}),
        # A message may go on with a call of the one before, which was not recorded.
        ((), None, {}),
        ((), [USER], {"call_known": False}),
        ((), [USER, CALLER], {"call_known": True}),
        ((), "all of them", {}),
    ],
)
def test_output_has_a_call(kinds: tuple[str, ...], messages: Any, wanted: dict[str, bool]) -> None:
    assert known_output(*kinds, messages=messages) == wanted


def test_once_the_message_has_text_an_output_of_no_call_is_astray() -> None:
    calls = KnownCalls()
    calls.has_shown = True
    assert calls.about("tool-output-available", OUTPUT) == {"call_known": False}
    calls.next_message()
    assert calls.about("tool-output-available", OUTPUT) == {}


def of(kind: str, **fields: Any) -> Event:
    return Event(kind, fields, 1, "wire")


def history(*events: Event) -> list[dict[str, Any]]:
    form = get("vercel.ui").request
    assert form is not None
    first = form.ask(Question("2 + 2?", 10, streams=True, thinks=True, summarises=False))
    return form.next_turns(Continuation(first, events, "", "", (), True, (), "And then?"))


def test_every_message_has_an_id_of_its_own() -> None:
    named = history(of("start", messageId="m-1"), of("start-step"))
    assert [each["id"] for each in named] == ["user-0", "m-1", "user-1"]
    assert len({each["id"] for each in history(of("start"), of("start-step"))}) == 3


def test_what_was_stopped_is_still_streaming() -> None:
    begun = [of("reasoning-start", id="1"), of("reasoning-delta", id="1", delta="two")]
    (_, answer, _) = history(*begun)
    assert [each["state"] for each in answer["parts"]] == ["streaming"]
    (_, answer, _) = history(*begun, of("reasoning-end", id="1"))
    assert [each["state"] for each in answer["parts"]] == ["done"]


@pytest.mark.parametrize(
    ("calls", "output", "count"), [(2, "one", 2), (held.MOST_HELD + 1, "one", 0), (2, "1" * 9, 0)]
)
def test_what_is_held_is_bounded(
    calls: int, output: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "MOST_CHARACTERS", 40)
    parts = held.HeldParts()
    for number in range(calls):
        parts.take("tool-input-start", {"toolCallId": str(number)})
    for _ in range(2):
        parts.take("tool-output-available", {"toolCallId": "0", "output": output})
    assert len(list(parts.events())) == count
