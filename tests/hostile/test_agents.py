"""Whatever an agent or an application does, a run ends within its bounds and says what it was."""

from __future__ import annotations

from typing import Final

import pytest

from tests.fakes.hostile import (
    CHUNK,
    Behaviour,
    bomb,
    dripping,
    head,
    then_reset,
    then_silent,
    whole,
)
from tests.hostile.agents import AGENTS, HostileAgent
from tests.hostile.answers import ESCAPES, body, event, flooding, framed
from tests.hostile.hosting import hosting
from tests.hostile.limited import START_MB, run_limited
from tests.hostile.test_servers import is_clean

QUICK: Final = ("--profile", "auto", "--timeout", "4", "--idle-timeout", "1")
SHORT: Final = ("--scenario", "app-answer", *QUICK)
CASES: Final = [
    pytest.param(each, id=each.name, marks=() if each.sampled else pytest.mark.hostile)
    for each in AGENTS
]


@pytest.mark.parametrize("agent", CASES)
def test_a_run_of_an_agent_ends_within_bounds(agent: HostileAgent) -> None:
    ended = run_limited(
        ["run", "--agent", agent.command, "--protocol", agent.protocol, *SHORT],
        seconds=agent.seconds,
        megabytes=agent.megabytes,
    )
    assert ended.code in agent.codes, ended.output[-2000:]
    assert is_clean(ended)


PORT: Final = ("--upstream-port", "0")
TEXT: Final = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}'
APPLICATIONS: Final[dict[str, Behaviour]] = {
    "silence": then_silent(b""),
    "silence in the stream": then_silent(head() + CHUNK[:40]),
    "a reset": then_reset(head()),
    "a drip": dripping(b":" * 999, head()),
    "comments": flooding(b":\n"),
    "deltas": flooding(f"data: {TEXT}\n\n".encode()),
    "one line": flooding(b"x" * 999, head() + b"data: "),
    "parts of the other protocol": flooding(
        b'data: {"type":"text-delta","id":"1","delta":"x"}\n\n'
    ),
    "escapes": framed(body=event({"type": ESCAPES, "delta": ESCAPES, "messageId": ESCAPES})),
    "deep JSON": whole(head() + b"data: " + b"[" * 900_000 + b"\n\n"),
    "no stream": body(b'{"detail":"no"}'),
    "a page": whole(head(kind="text/html") + b"<script>" * 9999),
    "a bomb": whole(bomb(90_000_000)),
}


@pytest.mark.hostile
@pytest.mark.parametrize("protocol", ["agui", "vercel.ui"])
@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_run_of_an_application_ends_within_bounds(name: str, protocol: str) -> None:
    with hosting(APPLICATIONS[name]) as heard:
        ended = run_limited(
            ["run", "--app", heard.url, "--protocol", protocol, *PORT, *SHORT],
            seconds=40,
            megabytes=START_MB + 400,
        )
    assert ended.code in (1, 3, 4), ended.output[-2000:]
    assert is_clean(ended)
