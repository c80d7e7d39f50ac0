"""Talks of several answers on one WebSocket: by id, by full input, and on lanes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cassette import read
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import stored
from tests.cassette.sockets import LIMIT, NOT_FOUND, Payload, Talk, cassette_text

_FOLDER: Final = Path(__file__).parents[3] / "cassettes/openai.responses/openai"
_Turn = tuple[Payload, list[Payload]]
_Edit = Callable[[Payload], Any]


def turns(name: str) -> list[_Turn]:
    """The requests and the events of a shipped talk."""
    found = []
    for each in read(_FOLDER / f"{name}.cassette.jsonl").exchanges:
        assert each.request is not None
        lines = each.body.decode().splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        found.append(({k: v for k, v in each.request.json.items() if k != "stream"}, events))
    return found


def messages(turn: _Turn, lane: str = "") -> Talk:
    named = {"stream_id": lane} if lane else {}
    body, events = turn
    return [
        ("client", {"type": "response.create", **deepcopy(body), **named}),
        *(("server", {**each, **named}) for each in events),
    ]


def joined(name: str, lane: str = "") -> Talk:
    return [each for turn in turns(name) for each in messages(turn, lane)]


def together(one: Talk, other: Talk) -> Talk:
    return [each for pair in zip_longest(one, other) for each in pair if each is not None]


def found(folder: Path, *talks: Talk, ends: Sequence[str] = ()) -> list[str]:
    """The rules that break in a recording with these connections."""
    lines: list[str] = []
    for number, (talk, end) in enumerate(zip_longest(talks, ends, fillvalue="eof"), 1):
        assert not isinstance(talk, str)
        head, *others = cassette_text(talk, end=end).splitlines()
        lines += others if lines else [head, *others]
        place = len(lines) - len(others)
        lines[place] = lines[place].replace('"exchange": 1', f'"exchange": {number}')
    path = stored(folder, "ws.cassette.jsonl", "\n".join(lines) + "\n")
    report = check_paths([path], profile="openai")
    assert not report.errors
    return [each.rule for result in report.streams for each in result.findings]


FULL, NAMED, THOUGHTS = map(turns, ("stateless-talk", "named-talk", "two-thoughts-talk"))
ONE, TWO, THREE = map(messages, FULL)
FIRST, SECOND, THIRD = map(messages, NAMED)
MADE, MORE = map(messages, THOUGHTS)
FAILED: Final[Payload] = {
    "type": "error",
    "status": 500,
    "error": {"code": "server_error", "message": "It is not known why."},
}
LEGAL: dict[str, list[Talk]] = {
    "full input": [[*ONE, *TWO, *THREE]],
    "by id": [[*FIRST, *SECOND, *THIRD]],
    "two talks": [[*MADE, *MORE, *FIRST, *SECOND, *THIRD]],
    "lanes, one behind the other": [[*joined("stateless-talk", "a"), *joined("named-talk", "b")]],
    "lanes at once": [together(joined("stateless-talk", "a"), joined("named-talk", "b"))],
    "another connection": [[*ONE, ("server", LIMIT)], [*TWO, *THREE]],
    "another connection, by id": [[*FIRST, ("server", LIMIT)], [*SECOND, *THIRD]],
    "unknown id, then full input": [[*ONE, SECOND[0], ("server", NOT_FOUND), *TWO, *THREE]],
    "asked again after an error": [[*ONE, TWO[0], ("server", FAILED), *TWO, *THREE]],
    "two wait": [[FIRST[0], MADE[0], *FIRST[1:], *MADE[1:], *MORE, *SECOND]],
    "three wait": [[ONE[0], MADE[0], FIRST[0], *ONE[1:], *MADE[1:], *FIRST[1:], *SECOND, *TWO]],
    "from the middle": [[*TWO, *THREE]],
}


@pytest.mark.parametrize("case", LEGAL)
def test_legal_talk_blames_nobody(tmp_path: Path, case: str) -> None:
    assert found(tmp_path, *LEGAL[case]) == []


@pytest.mark.parametrize(
    "talk", [(ONE, TWO, THREE), (FIRST, SECOND, THIRD)], ids=["full input", "by id"]
)
def test_cut_answer_that_is_asked_for_again_is_the_only_finding(
    tmp_path: Path, talk: Sequence[Talk]
) -> None:
    first, second, third = talk
    cut, again = [*first, *second[:9]], [*second, *third]
    assert found(tmp_path, cut, again, ends=["reset", "eof"]) == ["wire/sse/ends-cleanly"]


def _item(body: Payload, kind: str) -> int:
    return next(at for at, each in enumerate(body["input"]) if each.get("type") == kind)


def lost(kind: str) -> _Edit:
    return lambda body: body["input"].pop(_item(body, kind))


def doubled(kind: str) -> _Edit:
    return lambda body: body["input"].insert(
        _item(body, kind), deepcopy(body["input"][_item(body, kind)])
    )


def stated(kind: str, key: str, value: Any) -> _Edit:
    return lambda body: body["input"][_item(body, kind)].update({key: value})


def named(value: str) -> _Edit:
    return lambda body: body.update(previous_response_id=value)


def sent(*places: int) -> _Edit:
    return lambda body: body.update(input=[body["input"][at] for at in places])


FAULTS: list[tuple[list[_Turn], int, _Edit, str]] = [
    (FULL, 1, lost("reasoning"), "responses/sealed-unchanged"),
    (FULL, 1, stated("reasoning", "encrypted_content", None), "responses/sealed-or-left-out"),
    (FULL, 1, stated("reasoning", "encrypted_content", "gAAA"), "responses/sealed-unchanged"),
    (FULL, 1, doubled("reasoning"), "responses/ids-distinct"),
    (FULL, 1, doubled("function_call"), "returned/turn-once"),
    (FULL, 1, lost("function_call_output"), "calls/answered"),
    (FULL, 1, stated("function_call_output", "call_id", "call_z"), "calls/asked"),
    (FULL, 1, stated("function_call", "arguments", "{}"), "returned/calls-as-made"),
    (FULL, 1, sent(0, 2, 1, 3), "responses/before-its-turn"),
    (FULL, 2, sent(0, 4, 5, 1, 2, 3, 6), "returned/turns-in-order"),
    (FULL, 1, named("resp_11"), "responses/named-items-once"),
    (NAMED, 2, named("resp_31"), "responses/named-answered"),
    (NAMED, 1, named("rs_31"), "responses/named-by-its-id"),
    (NAMED, 1, sent(0), "responses/named-answered"),
    (NAMED, 1, stated("function_call_output", "call_id", "call_z"), "responses/named-asked"),
]


@pytest.mark.parametrize("lane", ["", "a"])
@pytest.mark.parametrize(("talk", "at", "edit", "rule"), FAULTS)
def test_fault_in_a_later_request_is_one_finding(
    tmp_path: Path, talk: list[_Turn], at: int, edit: _Edit, rule: str, lane: str
) -> None:
    made = deepcopy(talk)
    body, answer = made[at]
    edit(body)
    for event in answer:  # a server repeats which answer it goes on from
        if "response" in event:
            event["response"]["previous_response_id"] = body.get("previous_response_id")
    events = [each for turn in made for each in messages(turn, lane)]
    other = "two-thoughts-talk" if talk is NAMED else "named-talk"
    beside = joined(other, "b") if lane else []
    assert found(tmp_path, together(events, beside)) == [f"history/{rule}"]


def test_lost_delta_of_an_answer_is_no_fault_of_the_next_request(tmp_path: Path) -> None:
    """The summary comes back as the server stated it at the end."""
    rules = found(tmp_path, [*ONE[:5], *ONE[6:], *TWO, *THREE])
    assert rules == ["wire/responses/sequence-from-zero", "summary/lifecycle/text-agrees"]


def test_event_of_another_answer_is_known_by_its_item(tmp_path: Path) -> None:
    rules = found(tmp_path, [*FIRST[:7], MADE[5], *FIRST[7:], *SECOND, *THIRD])
    assert rules == ["wire/responses/item-id", "summary/lifecycle/text-agrees"]
