"""`scenarios:` asked of a server, or of an application in this process."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from conformance.dialects import ENDPOINTS
from conformance.judging.result import StreamResult
from conformance.judging.run_rules import SCENARIO_RULES
from conformance.pytest_plugin.applications import hosted
from conformance.pytest_plugin.collecting import Collecting
from conformance.pytest_plugin.live import Asked, Target, kept, nodes
from conformance.pytest_plugin.options import ASGI, value
from conformance.pytest_plugin.spec import Live, Spec
from conformance.pytest_plugin.verdicts import Told
from conformance.runs import RunOptions, only_model, run_server
from conformance.runs.options import credential_headers
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets import asgi
from conformance.targets.server import LiveServer

_HINT: Final = "needs a live target: --conformance-url URL, or asgi:MODULE:APP"


def collect(origin: Collecting, live: Live) -> Iterator[pytest.Item | pytest.Collector]:
    """Nodes for every step; one item that is skipped where there is no server."""
    url = value(origin.config, "url")
    if url is None:
        yield origin.fixed("scenarios", Told("skipped", "NO-TARGET", _HINT), live.line)
        return
    scenarios = load_scenarios(live.scenarios)
    target = Target(partial(_asked, origin, live, str(url), scenarios), _place_of, live.line)
    places = {
        place: _rules(origin.spec, dialect)
        for dialect in live.dialects or tuple(ENDPOINTS)
        for place in _places(scenarios, dialect)
    }
    yield from nodes(origin, target, places)


def _places(scenarios: tuple[Scenario, ...], dialect: str) -> Iterator[str]:
    for scenario in scenarios:
        for step in () if scenario.is_for_gateways else scenario.steps_for(dialect):
            yield f"{ENDPOINTS[dialect].api}/{scenario.name}/{step.role}"


def _place_of(stream: StreamResult) -> str:
    return f"{ENDPOINTS[stream.dialect].api}/{stream.scenario}/{stream.role}"


def _rules(spec: Spec, dialect: str) -> tuple[str, ...]:
    rules = (*spec.rulebook.rules, *SCENARIO_RULES)
    return tuple(r.id for r in rules if r.dialect in (None, dialect) and r.view == "wire")


def _asked(origin: Collecting, live: Live, url: str, scenarios: tuple[Scenario, ...]) -> Asked:
    options = _options(origin, live)
    with tempfile.TemporaryDirectory(prefix="conformance-") as lost:
        return asyncio.run(_run(url, options, scenarios, options.save or Path(lost)))


def _options(origin: Collecting, live: Live) -> RunOptions:
    return RunOptions(
        model=live.model,
        dialects=live.dialects,
        profile=origin.choices().profile,
        without=live.without,
        target=live.target,
        suites=origin.spec.suites,
        rules=origin.spec.rules,
        secrets=credential_headers(live.api_key_env, None),
        save=kept(origin),
    )


async def _run(
    url: str, options: RunOptions, scenarios: tuple[Scenario, ...], folder: Path
) -> Asked:
    async with AsyncExitStack() as stack:
        transport = None
        if url.startswith(ASGI):
            transport, url = await stack.enter_async_context(hosted(url)), asgi.URL
        server = await stack.enter_async_context(LiveServer(url, transport=transport))
        if not options.model:
            model = await only_model(server, options.secrets, options.dialects)
            options = replace(options, model=model)
        outcome = await run_server(server, scenarios, options, folder)
        return Asked(outcome.report, outcome.unanswered)
