"""Many clients of the real engine at once, of which half go away: nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest
from starlette.types import ASGIApp

from conformance import check_chunks
from reference_impl.model import folder
from reference_impl.server.app import application
from reference_impl.server.defects import Api
from reference_impl.server.engine import Engine
from reference_impl.server.engine.generation import Generation
from reference_impl.server.sending import Outbox
from reference_impl.server.service import Service
from tests.reference.driving import Connection
from tests.reference.scenes import DIALECTS
from tests.reference.test_server_abort import ASKED, begun

pytestmark = pytest.mark.slow

REQUESTS = 200


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.load(folder(), device="cpu", max_batch=64)
    yield engine
    engine.close()


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
