"""The next request of a client has the turns before: words, calls and their order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.events import Exchange, Request
from conformance.dialects import get
from conformance.judging.harness import TALK_KEPT
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.targets.client.client_judge import ClientJudge
from conformance.targets.client.kept_talk import talk_fault, whole_talk
from conformance.targets.client.protocol import ClientImplementation

ASKED = {"role": "user", "content": "Which way does the wind blow?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "vane", "arguments": '{"at": 2}'}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "Done."}
AGAIN = {"role": "user", "content": "And now?"}


def fault(
    chunks: list[dict[str, Any]], next_messages: list[dict[str, Any]], *, is_inline: bool = False
) -> Any:
    """What is wrong with the messages that follow an answer to `ASKED`."""
    recording = open_recording(
        shipped.cassettes() / "openai.chat/deepseek/thinking-then-text.cassette.jsonl"
    )
    dialect = get("openai.chat")
    profile, _ = choose_profile(dialect, CheckChoices(), "strict")
    about = ClientImplementation(
        *("c", "python", "1", (dialect.name,), frozenset({"stream"}), frozenset(), frozenset())
    )
    judge = ClientJudge(Rulebook.load(), profile, about, "x", named=True)
    recorded = recording.exchanges[0]
    lines = [json.dumps({"id": "1", "object": "chat.completion.chunk", **each}) for each in chunks]
    body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
    answer = replace(recorded, chunks=(replace(recorded.chunks[0], data=body),))
    request = Request("POST", "/v1/chat/completions", json={"messages": next_messages})
    asked: Exchange = replace(recorded, number=2, request=request)
    sent = judge.read_sent(answer)
    talk = whole_talk(asked, dialect)
    assert talk is not None
    return talk_fault([ASKED], sent, talk, is_inline=is_inline)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


SPOKEN = [chunk(reasoning_content="The vane points north."), chunk("stop", content="To the north.")]
CUT = [
    chunk(tool_calls=[{**CALL, "index": 0, "function": {"name": "vane", "arguments": '{"at'}}]),
    chunk("length"),
]
CALLING = [chunk("tool_calls", tool_calls=[{"index": 0, **CALL}])]
SAID = {"role": "assistant", "content": "To the north."}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def called_with(arguments: str) -> dict[str, Any]:
    call = {**CALL, "function": {"name": "vane", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize(
    ("chunks", "sent"),
    [
        (SPOKEN, [ASKED, SAID, AGAIN]),
        (SPOKEN, [ASKED, {**SAID, "reasoning_content": "The vane points north."}, AGAIN]),
        (SPOKEN, [{"role": "system", "content": "Be brief."}, ASKED, SAID, AGAIN]),
        (SPOKEN, [ASKED, {**SAID, "content": " To the\nnorth. "}, AGAIN]),
        (CALLING, [ASKED, CALLED, RESULT]),
        (CALLING, [ASKED, called_with('{"at":2}'), RESULT]),
        (CUT, [ASKED, called_with("{}"), RESULT]),
        (CUT, [ASKED, AGAIN]),
    ],
)
def test_what_comes_back_as_it_was_is_right(chunks: Any, sent: Any) -> None:
    assert fault(chunks, sent) is None


@pytest.mark.parametrize(
    ("chunks", "sent", "expected", "got"),
    [
        (SPOKEN, [SAID, AGAIN], "the words of the user", "none of it"),
        (SPOKEN, [ASKED, AGAIN], "the text of the answer", "another one or none"),
        (SPOKEN, [ASKED, {**SAID, "content": "To"}, AGAIN], "the text", "another one"),
        (
            SPOKEN,
            [ASKED, {**SAID, "content": "The vane points north.To the north."}, AGAIN],
            *("the text of the answer alone", "its thinking"),
        ),
        (SPOKEN, [ASKED, SAID, SAID, AGAIN], "once", "more than once"),
        (SPOKEN, [AGAIN, ASKED, SAID], "what came after the answer", "an entry of the model"),
        (CALLING, [ASKED, called_with('{"at": 7}'), RESULT], 'vane({"at":2})', 'vane({"at":7})'),
        (CALLING, [ASKED], 'vane({"at":2})', "it nowhere"),
        (CUT, [ASKED, *[called_with("{}")] * 2, AGAIN], "the call vane({}) once", "more than once"),
        (CALLING, [ASKED, CALLED, CALLED, RESULT], 'vane({"at":2})', "more than once"),
    ],
)
def test_what_is_lost_or_altered_is_found(chunks: Any, sent: Any, expected: str, got: str) -> None:
    found = fault(chunks, sent)
    assert found is not None
    assert expected in found[0]
    assert got in found[1]


def test_the_rule_is_advice() -> None:  # real clients were not run with it yet
    assert (TALK_KEPT.id, TALK_KEPT.level.name) == ("harness/talk-kept", "SHOULD")


def test_thinking_that_came_in_the_text_may_go_back_in_it() -> None:
    inline = {"role": "assistant", "content": "<think>The vane points north.</think>To the north."}
    assert fault(SPOKEN, [ASKED, inline, AGAIN]) is not None
    assert fault(SPOKEN, [ASKED, inline, AGAIN], is_inline=True) is None
