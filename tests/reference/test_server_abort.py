"""Clients that go away: their generations end, others go on, and nothing is left behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from reference_impl.server.app import application
from reference_impl.server.defects import Api
from reference_impl.server.engine import ReasoningDelta, Start, TextDelta
from reference_impl.server.service import Service
from tests.reference.driving import Connection, scope
from tests.reference.scenes import PATHS
from tests.reference.scripted_engine import ScriptedEngine, Step

COUNT = "Count to 9."
ASKED: dict[Api, dict[str, Any]] = {
    "chat": {"messages": [{"role": "user", "content": COUNT}]},
    "responses": {"input": COUNT, "reasoning": {"summary": "auto"}},
    "messages": {
        "messages": [{"role": "user", "content": COUNT}],
        "max_tokens": 500,
        "thinking": {"type": "adaptive"},
    },
}


def begun(app: ASGIApp, api: Api, model: str, *, stream: bool = True) -> tuple[Connection, Any]:
    fields = {"model": model, "stream": stream, **ASKED[api]}
    connection = Connection(json.dumps(fields).encode())
    call = app(scope(PATHS[api]), connection.receive, connection.send)
    return connection, asyncio.create_task(_quietly(call))


async def _quietly(call: Any) -> None:
    await call


async def reached(state: Callable[[], bool]) -> None:
    """Let the others run until the state is there."""
    for _ in range(10_000):
        if state():
            return
        await asyncio.sleep(0)
    pytest.fail("the state was never reached")


def endless() -> list[Step]:
    """A generation that thinks, speaks, and then waits for ever."""
    return [Start(7), ReasoningDelta("hm", 1), TextDelta("4"), asyncio.Event()]


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("stream", [True, False])
async def test_generation_ends_when_its_client_leaves(api: Api, stream: bool) -> None:
    engine = ScriptedEngine([endless(), [Start(9), asyncio.Event()]])
    connection, task = begun(application(Service(engine)), api, "scripted", stream=stream)
    await reached(lambda: bool(engine.calls) and (not stream or bool(connection.sent)))
    connection.leave()
    await task
    assert engine.idle
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_client_that_leaves_during_the_summary_ends_both_calls() -> None:
    engine = ScriptedEngine([endless(), [Start(9), TextDelta("It"), asyncio.Event()]])
    connection, task = begun(application(Service(engine)), "responses", "scripted")
    await reached(lambda: len(engine.calls) == 2 and not engine.calls[1].unsaid)
    connection.leave()
    await task
    assert [call.ended for call in engine.calls] == [True, True]


async def test_events_that_wait_together_leave_in_one_write() -> None:
    events = (TextDelta(str(n)) for n in range(50))
    engine = ScriptedEngine([[Start(7), *events, asyncio.Event()]])
    connection, task = begun(application(Service(engine)), "chat", "scripted")
    await connection.first.wait()
    connection.leave()
    await task
    (body,) = (m["body"] for m in connection.sent if m.get("body"))
    assert body.count(b"data: ") == 51


async def test_slow_client_holds_up_its_own_generation_only() -> None:
    class Slow(Connection):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if message.get("body"):
                await asyncio.Event().wait()

    events = (TextDelta("x" * 100_000) for _ in range(100))
    engine = ScriptedEngine([[Start(7), *events, asyncio.Event()]])
    app = application(Service(engine))
    fields = {"model": "scripted", "stream": True, **ASKED["chat"]}
    connection = Slow(json.dumps(fields).encode())
    call = app(scope(PATHS["chat"]), connection.receive, connection.send)
    task = asyncio.create_task(_quietly(call))
    await connection.first.wait()
    await reached(lambda: len(engine.calls[0].unsaid) < 101)
    for _ in range(1000):
        await asyncio.sleep(0)
    unsaid = len(engine.calls[0].unsaid)
    connection.leave()
    await task
    assert engine.idle
    assert unsaid > 50
