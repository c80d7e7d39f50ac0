"""A run against an application in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.runs import RunOptions, RunOutcome, run_server
from conformance.runs.api_run import RunDisplay
from conformance.scenarios import load_scenarios
from conformance.targets import asgi
from conformance.targets.server import LiveServer
from tests.fakes.chatty import Chatty

Runner = Callable[..., RunOutcome]
PLAIN = RunOptions(model="chatty", dialects=("openai.chat",), profile="strict")


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    """Runs scenarios, by name, against a server; options are those of `RunOptions`.

    `found` hears of the rules with a finding while the run goes on.
    """

    def running(server: Chatty, *names: str, **changes: Any) -> RunOutcome:
        found: list[str] = changes.pop("found", [])
        display = RunDisplay(
            show_results=lambda streams: found.extend(
                each.rule for stream in streams for each in stream.findings
            )
        )
        options = replace(PLAIN, **{"save": tmp_path, **changes})

        async def go() -> RunOutcome:
            transport = asgi.AsgiTransport(server)
            async with LiveServer(asgi.URL, transport=transport) as target:
                return await run_server(target, load_scenarios(names), options, tmp_path, display)

        return asyncio.run(go())

    return running
