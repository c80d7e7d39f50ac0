"""A scenario as requests to record: what came decides what is asked next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import read
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Response
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.runs import RequestSettings, scenario_requests
from conformance.scenarios import load_scenarios
from conformance.targets.recording import DirectRequest
from tests.fakes.chatty import Chatty, Message, Receive, Send
from tests.runs.conftest import Runner

WAY = RequestSettings("m", 64)
CALL = {"index": 0, "id": "call_1", "type": "function"}
SAID: dict[str, dict[str, Any]] = {
    "called": {"tool_calls": [{**CALL, "function": {"name": "calculator", "arguments": "{}"}}]},
    "spoken": {"content": "5"},
}


def answer(said: str, number: int) -> Exchange:
    message = {"role": "assistant", "content": None, **SAID[said]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "choices": [choice]}
    head = Response(200, "1.1", (("content-type", "application/json"),))
    return Exchange(number=number, response=head, chunks=(Chunk(json.dumps(body).encode()),))


def asked(name: str, *said: str) -> tuple[list[DirectRequest], list[str]]:
    """The requests for these answers, and what was told."""
    refusals: list[str] = []
    (scenario,) = load_scenarios([name])
    questions = scenario_requests(
        scenario, "openai.chat", WAY, {"x-one": "1"}, tell=refusals.append
    )
    found = [next(questions)]
    for number, each in enumerate(said, 1):
        try:
            found.append(questions.send(answer(each, number)))
        except StopIteration:
            break
    return found, refusals


def test_a_follow_up_carries_on_what_was_answered() -> None:
    (first, second, third), refusals = asked("tools", "called", "spoken", "called")
    assert (first.scenario, first.role, first.after) == ("tools", "tool-turn", None)
    assert (second.role, second.after, third.role) == ("follow-up", 1, "tool-turn-body")
    assert second.body["messages"][-1] == {"role": "tool", "tool_call_id": "call_1", "content": "5"}
    assert refusals == []
    assert dict(first.headers)["x-one"] == "1"
    assert first.body["model"] == "m"


def test_a_step_that_cannot_be_taken_is_reported_and_left_out() -> None:
    found, refusals = asked("tools", "spoken", "spoken")
    assert [each.role for each in found] == ["tool-turn", "tool-turn-body"]
    assert refusals == ["tools/follow-up was left out: continues tool-turn, which called no tool"]


@pytest.mark.parametrize(
    ("name", "dialect", "why"),
    [
        ("gateway-answer", "openai.chat", "is for gateways"),
        ("summary", "anthropic.messages", "has no request for anthropic.messages"),
    ],
)
def test_what_cannot_be_recorded_is_a_wrong_call(name: str, dialect: str, why: str) -> None:
    (scenario,) = load_scenarios([name])
    with pytest.raises(UsageError, match=why):
        scenario_requests(scenario, dialect, WAY)


KEY = "own-</think>-kind-of-key-1"


class Edited(Chatty):
    """Sends more headers, and other words."""

    more: tuple[tuple[bytes, bytes], ...] = ()
    words: Mapping[bytes, bytes] = {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def edited(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self.more]}
            elif message["type"] == "http.response.body":
                body = message.get("body", b"")
                for old, new in self.words.items():
                    body = body.replace(old, new)
                message = {**message, "body": body}
            await send(message)

        await super().__call__(scope, receive, edited)


def edited(cookie: str, words: Mapping[bytes, bytes]) -> Edited:
    server = Edited()
    server.more = ((b"set-cookie", cookie.encode()),)
    server.words = words
    return server


@pytest.mark.parametrize("cookie", ["a=</think>", "a=finish_reason", "a=completion.chunk; path=/"])
def test_a_cookie_decides_nothing(run: Runner, cookie: str) -> None:
    words = {b"Answer": b"</think> Answer"}
    leaking = run(edited("a=1", words), "think").report
    assert leaking.exit_code() == 1
    again = run(edited(cookie, words), "think").report
    assert {f.id for f in again.findings} == {f.id for f in leaking.findings}
    assert again.verdicts == leaking.verdicts
    assert run(edited(cookie, {}), "think").report.exit_code(strict=True) == 0


@pytest.mark.slow
def test_what_a_run_found_in_a_key_is_untestable_offline(run: Runner, tmp_path: Path) -> None:
    server = edited("a=1", {b"Answer": f"Answer {KEY}".encode()})
    secrets = {"openai.chat": {"authorization": f"Bearer {KEY}"}}
    report = run(server, "think", secrets=secrets).report
    broken = {rule for rule, verdict in report.verdicts.items() if verdict is Verdict.FAIL}
    assert broken
    for path in tmp_path.rglob("*.jsonl"):
        assert KEY.encode() not in path.read_bytes()
        assert any(exchange.touched for exchange in read(path).exchanges)
    offline = check_paths([tmp_path])
    assert not broken & {finding.rule for finding in offline.findings}
    assert {offline.verdicts[rule] for rule in broken} == {Verdict.UNTESTABLE}
