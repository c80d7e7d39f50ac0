"""Talks with an agent in several runs: odd ones that are right, and faults in what goes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import read
from conformance.core.events import Chunk, Exchange
from tests.evidence.links.talks import checked

_TALK: Final = Path(__file__).parents[3] / "cassettes/agui/agent/talk.cassette.jsonl"
Fields = dict[str, Any]
Run = tuple[Fields, list[Fields]]  # the input, and the events


def shipped() -> list[Run]:
    found = []
    for each in read(_TALK).exchanges:
        assert each.request is not None
        lines = each.body.decode().splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        found.append((json.loads(json.dumps(each.request.json)), events))
    return found


def broken(talk: list[Run]) -> list[tuple[int, str]]:
    """The rules that break, each with the exchange in which."""
    first = read(_TALK).exchanges[0]
    exchanges = [_exchange(first, number, *run) for number, run in enumerate(talk, 1)]
    results = checked(exchanges, "agui", "strict")
    return [(each.exchange, finding.rule) for each in results for finding in each.findings]


def _exchange(like: Exchange, number: int, asked: Fields, events: list[Fields]) -> Exchange:
    assert like.request is not None
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events).encode()
    request = replace(like.request, json=asked)
    return replace(like, number=number, request=request, chunks=(Chunk(body),))


def messages_of(run: Run) -> list[Fields]:
    found: list[Fields] = run[0]["messages"]
    return found


def _replayed(talk: list[Run]) -> None:
    """A stream replays earlier runs before the one that the request asks for."""
    talk[1] = talk[1][0], [*talk[0][1], *talk[1][1]]


def _summed_up(talk: list[Run]) -> None:
    """The first round becomes a summary."""
    said = {"id": "sum", "role": "system", "content": "They looked at a board."}
    talk[2][0]["messages"] = [said, *messages_of(talk[2])[4:]]


def _renamed(talk: list[Run]) -> None:
    """A client with ids of its own."""
    for run in talk:
        for each in messages_of(run):
            each["id"] = f"own-{each['id']}"


def _withdrawn(talk: list[Run]) -> None:
    """A snapshot restates what was streamed, and leaves out what it was sealed with."""
    for run in talk:
        for each in messages_of(run):
            each.pop("encryptedValue", None)
    stated = messages_of(talk[2])
    for at, size in enumerate((3, 6)):
        shown = {"type": "MESSAGES_SNAPSHOT", "messages": stated[:size]}
        talk[at][1].insert(-1, shown)


def _stated_alone(talk: list[Run]) -> None:
    """Nothing is streamed: the snapshot alone has the answer."""
    frame = ("RUN_", "TOOL_")
    stated = messages_of(talk[2])
    for at, size in enumerate((3, 6)):
        events = [each for each in talk[at][1] if each["type"].startswith(frame)]
        shown = {"type": "MESSAGES_SNAPSHOT", "messages": stated[:size]}
        talk[at] = talk[at][0], [*events[:-1], shown, events[-1]]


def _asked_again(talk: list[Run]) -> None:
    """A run fails, and the interface asks once more."""
    begun = talk[1][1][0]
    failed = [{**begun, "runId": "run-x"}, {"type": "RUN_ERROR", "message": "overloaded"}]
    talk.insert(1, ({**talk[1][0], "runId": "run-x"}, failed))


def _without_thoughts(talk: list[Run]) -> None:
    """A client that keeps no reasoning, of an agent that seals none."""
    for asked, events in talk:
        asked["messages"] = [each for each in asked["messages"] if each["role"] != "reasoning"]
        events[:] = [each for each in events if each["type"] != "REASONING_ENCRYPTED_VALUE"]


@pytest.mark.parametrize(
    "edit",
    [
        _replayed,
        _summed_up,
        _renamed,
        _withdrawn,
        _stated_alone,
        _asked_again,
        _without_thoughts,
    ],
)
def test_an_odd_talk_blames_nobody(edit: Callable[[list[Run]], None]) -> None:
    talk = shipped()
    edit(talk)
    assert broken(talk) == []


def _other_call(talk: list[Run]) -> None:
    call = messages_of(talk[1])[2]["toolCalls"][0]
    call["function"]["arguments"] = '{"side":"south"}'


def _thought_twice(talk: list[Run]) -> None:
    history = messages_of(talk[1])
    history.insert(1, {**history[1], "id": "r1-again"})


def _seals_exchanged(talk: list[Run]) -> None:
    one, other = messages_of(talk[2])[1], messages_of(talk[2])[4]
    one["encryptedValue"], other["encryptedValue"] = other["encryptedValue"], one["encryptedValue"]


def _result_twice(talk: list[Run]) -> None:
    history = messages_of(talk[1])
    history.insert(3, {**history[3], "id": "result-again"})


def _call_lost(talk: list[Run]) -> None:
    del messages_of(talk[1])[2]


def _answers_exchanged(talk: list[Run]) -> None:
    (one, of_one), (other, of_other) = talk[:2]
    talk[:2] = [(one, of_other), (other, of_one)]


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (_other_call, "history/returned/calls-as-made"),
        (_thought_twice, "history/agui/thinking-as-received"),
        (_seals_exchanged, "history/agui/sealed-unchanged"),
        (_result_twice, "history/agui/result-asked"),
        (_call_lost, "history/agui/result-asked"),
        (_answers_exchanged, "wire/agui/run-as-asked"),
    ],
)
def test_a_fault_of_a_talk_breaks_one_rule(edit: Callable[[list[Run]], None], rule: str) -> None:
    talk = shipped()
    edit(talk)
    assert {name for _, name in broken(talk)} == {rule}


def _results_of_two_calls() -> list[Run]:
    """An agent that carries out two calls, and a question behind them."""
    calls, results = ("call_0", "call_1"), ("Three metres.", "Falling until four.")
    events: list[Any] = [{"type": "RUN_STARTED", "threadId": "thread-1", "runId": "run-1"}]
    for call, result in zip(calls, results, strict=True):
        events += [
            {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": "read_board"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": "{}"},
            {"type": "TOOL_CALL_END", "toolCallId": call},
            {
                "type": "TOOL_CALL_RESULT",
                "toolCallId": call,
                "role": "tool",
                "messageId": f"of-{call}",
                "content": result,
            },
        ]
    events.append({"type": "RUN_FINISHED", "threadId": "thread-1", "runId": "run-1"})
    function = {"name": "read_board", "arguments": "{}"}
    made = [{"id": call, "type": "function", "function": function} for call in calls]
    back = [
        {"id": f"of-{call}", "role": "tool", "toolCallId": call, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]
    asked = {"threadId": "thread-1", "state": {}, "tools": [], "context": []}
    question = {"id": "user-1", "role": "user", "content": "How is the water?"}
    said = {"id": "call_0", "role": "assistant", "toolCalls": made}
    more = {"id": "user-2", "role": "user", "content": "And now?"}
    again = [
        {"type": "RUN_STARTED", "threadId": "thread-1", "runId": "run-2"},
        {"type": "RUN_FINISHED", "threadId": "thread-1", "runId": "run-2"},
    ]
    return [
        ({**asked, "runId": "run-1", "messages": [question]}, events),
        ({**asked, "runId": "run-2", "messages": [question, said, *back, more]}, again),
    ]


def _one_left_out(messages: list[Any]) -> None:
    messages[1]["toolCalls"].pop()
    del messages[3]


def _ids_of_its_own(messages: list[Any]) -> None:
    for each in messages[2:4]:
        each |= {"id": f"own-{each['id']}", "content": "as the client has it"}


def _shortened(messages: list[Any]) -> None:
    messages[2]["content"] = "Three"


def _exchanged(messages: list[Any]) -> None:
    one, other = messages[2:4]
    one["content"], other["content"] = other["content"], one["content"]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda _: None, False),
        (_one_left_out, False),
        (_ids_of_its_own, False),  # whose it is, nobody can say
        (_shortened, True),
        (_exchanged, True),
    ],
)
def test_a_result_of_the_agent_goes_back_as_it_came(
    edit: Callable[[list[Any]], None], found: bool
) -> None:
    talk = _results_of_two_calls()
    edit(messages_of(talk[1]))
    assert ("history/agui/result-as-came" in {name for _, name in broken(talk)}) is found
