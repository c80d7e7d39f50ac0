"""A run judges what came: nothing that a server says of itself takes part of it away."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.cassette import read
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.fakes.chatty import Chatty, Message, Receive, Send
from tests.runs.conftest import Runner

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
