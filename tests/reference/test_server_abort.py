"""Clients that go away: their generations end, others go on, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from conformance import check_chunks
from reference_impl.model import folder
from reference_impl.server.app import application
from reference_impl.server.defects import Api
from reference_impl.server.engine import Engine, ReasoningDelta, Start, TextDelta
from reference_impl.server.engine.generation import Generation
from reference_impl.server.sending import Outbox
from reference_impl.server.service import Service
from tests.reference.driving import Connection, scope
from tests.reference.scenes import DIALECTS, PATHS
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
REQUESTS = 200


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.load(folder(), device="cpu", max_batch=64)
    yield engine
    engine.close()


def begun(app: ASGIApp, api: Api, model: str, *, stream: bool = True) -> tuple[Connection, Any]:
    fields = {"model": model, "stream": stream, **ASKED[api]}
    connection = Connection(json.dumps(fields).encode())
    call = app(scope(PATHS[api]), connection.receive, connection.send)
    return connection, asyncio.create_task(_quietly(call))


async def _quietly(call: Any) -> None:
    await call


def apis() -> Iterator[Api]:
    while True:
        yield from ASKED


async def crowd(app: ASGIApp, model: str) -> list[tuple[Api, Connection]]:
    """Many at once; every second one leaves as soon as something has come."""
    calls = [
        (api, *begun(app, api, model)) for api, _ in zip(apis(), range(REQUESTS), strict=False)
    ]
    for _, connection, _ in calls[::2]:
        await connection.first.wait()
        connection.leave()
    await asyncio.gather(*(task for _, _, task in calls))
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return [(api, connection) for api, connection, _ in calls[1::2]]


def left_behind() -> int:
    gc.collect()
    return sum(type(each) in (Generation, Outbox) for each in gc.get_objects())


async def reached(state: Callable[[], bool]) -> None:
    """Let the others run until the state is there."""
    for _ in range(10_000):
        if state():
            return
        await asyncio.sleep(0)
    pytest.fail("the state was never reached")


@pytest.mark.slow
def test_crowd_of_which_half_leaves(engine: Engine) -> None:
    app = application(Service(engine))
    finished = asyncio.run(crowd(app, engine.model_id))
    assert engine.wait_idle(5)
    assert left_behind() == 0
    for api, connection in finished:
        profile = "strict" if api == "chat" else "reference"
        report = check_chunks(
            [connection.answer("eof").data],
            dialect=DIALECTS[api],
            profile=profile,
            request={"stream": True, **ASKED[api]},
        )
        assert [(finding.rule, finding.message) for finding in report.findings] == []


def endless() -> list[Step]:
    """A generation that thinks, speaks, and then waits for ever."""
    return [Start(7), ReasoningDelta("hm", 1), TextDelta("4"), asyncio.Event()]


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("stream", [True, False])
def test_generation_ends_when_its_client_leaves(api: Api, stream: bool) -> None:
    async def leave() -> None:
        engine = ScriptedEngine([endless(), [Start(9), asyncio.Event()]])
        connection, task = begun(application(Service(engine)), api, "scripted", stream=stream)
        await reached(lambda: bool(engine.calls) and (not stream or bool(connection.sent)))
        connection.leave()
        await task
        assert engine.idle
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(leave())


def test_client_that_leaves_during_the_summary_ends_both_calls() -> None:
    async def leave() -> None:
        engine = ScriptedEngine([endless(), [Start(9), TextDelta("It"), asyncio.Event()]])
        connection, task = begun(application(Service(engine)), "responses", "scripted")
        await reached(lambda: len(engine.calls) == 2 and not engine.calls[1].unsaid)
        connection.leave()
        await task
        assert [call.ended for call in engine.calls] == [True, True]

    asyncio.run(leave())


def test_events_that_wait_together_leave_in_one_write() -> None:
    async def read() -> Connection:
        events = (TextDelta(str(n)) for n in range(50))
        engine = ScriptedEngine([[Start(7), *events, asyncio.Event()]])
        connection, task = begun(application(Service(engine)), "chat", "scripted")
        await connection.first.wait()
        connection.leave()
        await task
        return connection

    (body,) = (m["body"] for m in asyncio.run(read()).sent if m.get("body"))
    assert body.count(b"data: ") == 51


def test_slow_client_holds_up_its_own_generation_only() -> None:
    class Slow(Connection):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if message.get("body"):
                await asyncio.Event().wait()

    async def read() -> int:
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
        return unsaid

    assert asyncio.run(read()) > 50
