"""What a file asks of a live target: `scenarios:` of a server, `cassettes:` replayed to a client.

A server may be an application in this process. Of a client, what it says it saw is judged, not what
was recorded.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from msgspec import structs

from conformance.dialects import ENDPOINTS, UNNAMED_ENDPOINTS
from conformance.judging.result import Report
from conformance.judging.run_rules import SCENARIO_RULES
from conformance.pytest_plugin.collecting import SpecCollection, short_names
from conformance.pytest_plugin.live import LiveTarget, target_nodes
from conformance.pytest_plugin.options import ASGI, job_count, option_value, passed_variables
from conformance.pytest_plugin.spec import LiveSpec
from conformance.pytest_plugin.verdicts import ItemOutcome
from conformance.runs import RunOptions, only_model, run_server
from conformance.runs.options import credential_headers
from conformance.scenarios import Scenario, load_scenarios
from conformance.targets import asgi
from conformance.targets.client import RULES as CLIENT_RULES
from conformance.targets.client import ClientOptions, run_client
from conformance.targets.server import LiveServer

_NO_TARGET: Final = "needs a live target: --conformance-url URL, or asgi:MODULE:APP"
_FOR_SERVERS: Final = "scenarios are for servers: this run has a client"


def live_nodes(collection: SpecCollection) -> Iterator[pytest.Item | pytest.Collector]:
    """Nodes for every step or recording; one item that is skipped where the target is missing."""
    client = option_value(collection.config, "client")
    url = option_value(collection.config, "url")
    live = collection.spec.live
    if live is not None and (client is not None or url is None):
        why = _NO_TARGET if client is None else _FOR_SERVERS
        outcome = ItemOutcome("skipped", "NO-TARGET", why)
        yield collection.fixed_item("scenarios", outcome, live.line)
    elif live is not None:
        yield from _server_nodes(collection, live, str(url))
    else:
        yield from _client_nodes(collection, str(client))


def _client_nodes(
    collection: SpecCollection, command: str
) -> Iterator[pytest.Item | pytest.Collector]:
    spec = collection.spec
    paths = [str(collection.path_of(each.path)) for each in spec.cassettes]
    names = dict(zip(paths, short_names(spec.cassettes), strict=True))
    rules = (*(rule.id for rule in spec.rulebook.rules), *(rule.id for rule in CLIENT_RULES))
    target = LiveTarget(
        partial(_run_client, collection, command, paths),
        lambda stream: names.get(stream.file, stream.file),
        dict.fromkeys(names.values(), rules),
        spec.cassettes[0].line,
    )
    yield from target_nodes(collection, target)


def _run_client(collection: SpecCollection, command: str, paths: list[str]) -> Report:
    options = ClientOptions(
        profile=collection.choices().profile,
        suites=collection.spec.suites,
        rules=collection.spec.rules,
        extent="full" if option_value(collection.config, "cases") == "full" else "quick",
        jobs=job_count(collection.config),
        save=_recordings_folder(collection),
        passed=passed_variables(collection.config),
    )
    return run_client(command, paths, options).report


def _server_nodes(
    collection: SpecCollection, live: LiveSpec, url: str
) -> Iterator[pytest.Item | pytest.Collector]:
    scenarios = load_scenarios(live.scenarios)
    rules = (*collection.spec.rulebook.rules, *SCENARIO_RULES)
    places: dict[str, tuple[str, ...]] = {}
    for dialect in live.dialects or UNNAMED_ENDPOINTS:
        wire = tuple(r.id for r in rules if r.judges(dialect) and r.view == "wire")
        places |= dict.fromkeys(_step_places(scenarios, dialect), wire)
    target = LiveTarget(
        partial(_run_server, collection, live, url, scenarios),
        lambda stream: f"{ENDPOINTS[stream.dialect].api}/{stream.scenario}/{stream.role}",
        places,
        live.line,
    )
    yield from target_nodes(collection, target)


def _step_places(scenarios: tuple[Scenario, ...], dialect: str) -> Iterator[str]:
    for scenario in scenarios:
        for step in () if scenario.is_for_gateways else scenario.steps_for(dialect):
            yield f"{ENDPOINTS[dialect].api}/{scenario.name}/{step.role}"


def _run_server(
    collection: SpecCollection, live: LiveSpec, url: str, scenarios: tuple[Scenario, ...]
) -> Report:
    options = RunOptions(
        model=live.model,
        dialects=live.dialects,
        profile=collection.choices().profile,
        without=live.without,
        target=live.target,
        suites=collection.spec.suites,
        rules=collection.spec.rules,
        secrets=credential_headers(live.api_key_env, None),
        save=_recordings_folder(collection),
    )
    with tempfile.TemporaryDirectory(prefix="conformance-") as lost:
        return asyncio.run(_run_scenarios(url, options, scenarios, options.save or Path(lost)))


async def _run_scenarios(
    url: str, options: RunOptions, scenarios: tuple[Scenario, ...], folder: Path
) -> Report:
    async with AsyncExitStack() as stack:
        transport = None
        if url.startswith(ASGI):
            hosted = asgi.hosted_app(url.removeprefix(ASGI))
            transport = await stack.enter_async_context(hosted)
            url = asgi.URL
        server = await stack.enter_async_context(LiveServer(url, transport=transport))
        if not options.model:
            model = await only_model(server, options.secrets, options.dialects)
            options = dataclasses.replace(options, model=model)
        outcome = await run_server(server, scenarios, options, folder)
        errors = (*outcome.unanswered, *outcome.report.errors)
        return structs.replace(outcome.report, errors=errors)


def _recordings_folder(collection: SpecCollection) -> Path | None:
    """Where recordings of a run are kept, so that findings have a line to point at; or nowhere."""
    cache = getattr(collection.config, "cache", None)
    if cache is None:
        return None
    name = collection.file.path.name.partition(".")[0]
    return Path(cache.mkdir("conformance")) / name / os.environ.get("PYTEST_XDIST_WORKER", "")
