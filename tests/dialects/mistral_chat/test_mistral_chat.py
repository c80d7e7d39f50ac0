"""Mistral's chat: parts of content, what goes back, and how it is told from Chat Completions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance import dialects
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Frame, Request, Response
from conformance.core.reading import Reading
from conformance.dialects.recognition import recognised_dialect
from conformance.dialects.requests import Continuation
from conformance.recordings.check import check_paths
from conformance.recordings.choices import agreed_dialect
from tests.authoring.mistral import (
    END,
    answer,
    body,
    chunk,
    parts,
    text_chunks,
    thinking,
    thought,
    written,
)
from tests.authoring.pieces import Message, encoded
from tests.dialects.payloads import typed_payloads

USAGE = (7, 9)
EVENT_STREAM = Response(200, "1.1", (("content-type", "text/event-stream"),))


def read(*messages: Message) -> list[Any]:
    return typed_payloads("mistral.chat", *(each.payload for each in messages))


def kinds(events: list[Any]) -> list[str]:
    return [event[0] for event in events if isinstance(event, tuple)]


def exchange(*messages: Message) -> Exchange:
    chunks = tuple(Chunk(encoded(message), 0.0) for message in messages)
    return Exchange(number=1, request=None, response=EVENT_STREAM, chunks=chunks, end="eof")


def test_an_empty_part_ends_thinking() -> None:
    events = read(*thought("Two and two."), parts(END), *text_chunks(["Four."]))
    assert kinds(events)[:7] == [
        *("message.start", "thinking.start", "thinking.delta", "thinking.delta", "thinking.end"),
        *("text.start", "text.delta"),
    ]
    assert [e[1]["explicit"] for e in events if e[0] == "thinking.end"] == [True]
    assert events.count("chat.part") == 3


def test_thinking_and_text_of_one_array_are_reported_in_order() -> None:
    events = read(parts(thinking("Two.", closed=True), written("Four.")))
    assert kinds(events)[1:6] == [
        *("thinking.start", "thinking.delta", "thinking.end", "text.start", "text.delta")
    ]


def test_a_signature_is_opaque_and_its_thinkings() -> None:
    events = read(parts(thinking("Two.", signature="c2ln")))
    (opaque,) = [event[1] for event in events if event[0] == "thinking.opaque"]
    assert opaque == {"choice": 0, "block": 0, "kind": "signature", "data": "c2ln"}


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([chunk(role="assistant", content=""), *text_chunks(["Four."])], "openai.chat"),
        (
            [chunk(role="assistant", content=""), *text_chunks([""]), *thought("Two.")],
            "mistral.chat",
        ),
        (thought("Two."), "mistral.chat"),
        ([chunk(content=[{"type": "thinking", "thinking": "Two."}])], "mistral.chat"),
    ],
)
def test_thinking_part_distinguishes_the_dialect(messages: list[Message], name: str) -> None:
    assert recognised_dialect(exchange(*messages)) == name


def test_either_may_be_said_of_a_stream_that_shows_the_other() -> None:
    assert agreed_dialect("openai.chat", "mistral.chat", Exchange()).name == "openai.chat"
    assert agreed_dialect("mistral.chat", "openai.chat", Exchange()).name == "mistral.chat"
    with pytest.raises(UsageError, match=r"the stream speaks mistral\.chat"):
        agreed_dialect("anthropic.messages", "mistral.chat", Exchange())


def test_a_recording_of_before_is_judged_as_it_says(tmp_path: Path) -> None:
    """Recordings and baselines name `openai.chat` and its profile `mistral`."""
    file = tmp_path / "before.sse"
    pieces = answer([*thought("Two."), *text_chunks(["Four."])], USAGE)
    file.write_bytes(b"".join(map(encoded, pieces)))
    (before,) = check_paths([file], dialect="openai.chat", profile="mistral").streams
    (now,) = check_paths([file], profile="mistral").streams
    assert (before.dialect, before.findings) == ("openai.chat", ())
    assert (now.dialect, now.findings) == ("mistral.chat", ())


def test_parts_of_a_request_are_reported() -> None:
    turn = {"role": "assistant", "content": [thinking("Two.", closed=True), written("Four.")]}
    asked = Request(json={"messages": [{"role": "user", "content": "2 + 2?"}, turn]})
    events = dialects.get("mistral.chat").reader(Reading()).request(asked)
    found = [(e.data["position"], e.data["kind"], e.data["thought"]) for e in events[3:]]
    assert found == [(1, "thinking", "Two."), (1, "text", "")]


def test_thinking_goes_back_as_a_signed_part() -> None:
    form = dialects.get("mistral.chat").request
    assert form is not None
    reader = dialects.get("mistral.chat").reader(Reading())
    payload = parts(thinking("Two.", signature="c2ln")).payload
    events = reader.read(Frame("event", "", "", "", 0), payload, 1)
    after = Continuation(
        request={"messages": []},
        events=events,
        thinking="Two.",
        text="Four.",
        tools=(),
        keeps_thinking=True,
        results=(),
        question="",
    )
    (turn,) = form.next_turns(after)
    signed = thinking("Two.", closed=True, signature="c2ln")
    assert turn["content"] == [signed, written("Four.")]


@pytest.mark.parametrize("content", [7, [7], [[]], [{"type": "thinking", "thinking": 7}], {}])
def test_hostile_content_is_read(content: Any) -> None:
    assert read(chunk(content=content))
    assert not dialects.get("mistral.chat").recognises(
        Frame("body", "", "", "", 0), body({"content": content}, USAGE)
    )


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"object": "error", "message": "No such effort.", "code": "3000"}, "No such effort."),
        ({"object": "error", "message": {"detail": [{"msg": "Not a list"}]}}, "Not a list"),
        ({"detail": [{"msg": "Not a list"}, {"msg": "Too short"}]}, "Not a list; Too short"),
        ({"detail": "Not found"}, "Not found"),
        ({"error": {"message": "No such effort."}}, "No such effort."),
        ({"fault": {"faultstring": "bad"}}, None),
    ],
)
def test_refusal_is_read_in_each_form(payload: dict[str, Any], message: str | None) -> None:
    reader = dialects.get("mistral.chat").reader(Reading())
    events = reader.read(Frame("body", "", "", "", 0), payload, 1)
    errors = [each.data["message"] for each in events if each.type == "error"]
    assert errors == ([] if message is None else [message])
