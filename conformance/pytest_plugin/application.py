"""An application or an agent under test, run by a test, with a played model behind it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from conformance.core.errors import ConformanceError
from conformance.dialects import AGENT_PROTOCOL
from conformance.dialects.script import MODEL
from conformance.judging.result import Report
from conformance.report import text
from conformance.report.redacted import redact_report
from conformance.runs import RunOptions, RunOutcome, run_application
from conformance.runs.options import parse_capabilities
from conformance.scenarios import load_scenarios
from conformance.targets import asgi
from conformance.targets.agent import AgentTarget
from conformance.targets.child_process import leftover_notes
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer, TurnTarget
from conformance.wire.faults import ExchangeLimits

MakeApplication = Callable[[str], asgi.Application]
"""Makes the application; it is given the URL, without `/v1`, that its provider has to ask."""
MakeTarget = Callable[[str], AbstractAsyncContextManager[TurnTarget]]
"""Makes the application, for the time of the test; it is given the URL of the played model."""

_USUAL: Final = ExchangeLimits()


@dataclass(frozen=True, slots=True)
class ScenarioRunJudge:
    """Runs the scenarios for applications in a test, which fails with the report.

    `strict`: advice that is not followed fails the test, too. `profile` is used where a call names
    none.
    """

    strict: bool
    profile: str | None = None

    def _judge_scenarios(
        self,
        make: MakeTarget,
        protocol: str,
        scenarios: Sequence[str],
        without: Iterable[str],
        profile: str | None,
    ) -> Report:
        options = RunOptions(
            model=MODEL,
            dialects=(protocol,),
            profile=profile or self.profile,
            without=parse_capabilities(list(without)),
        )
        try:
            outcome = asyncio.run(_run_scenarios(make, protocol, scenarios, options))
        except ConformanceError as err:
            raise pytest.fail.Exception(str(err), pytrace=False) from None
        report = outcome.report
        if report.exit_code(strict=self.strict) or outcome.unanswered:
            lines = (*outcome.unanswered, text.render(redact_report(report)))
            raise pytest.fail.Exception("\n".join(lines), pytrace=False)
        return report


class ApplicationJudge(ScenarioRunJudge):
    """Judges an ASGI application, hosted in this process; see docs/applications.md."""

    def __call__(
        self,
        make: MakeApplication,
        *,
        protocol: str,
        path: str = "/",
        scenarios: Sequence[str] = (),
        without: Iterable[str] = (),
        profile: str | None = None,
    ) -> Report:
        """The report; the test fails with it where a rule is broken.

        `path` is the application's own. `scenarios` and `without` are as those options of
        `conformance run`.
        """

        @asynccontextmanager
        async def hosted(model: str) -> AsyncIterator[TurnTarget]:
            async with (
                asgi.hosted(make(model)) as transport,
                LiveServer(f"{asgi.URL}{path}", transport=transport, protocol=protocol) as server,
            ):
                yield server

        return self._judge_scenarios(hosted, protocol, scenarios, without, profile)


class AgentJudge(ScenarioRunJudge):
    """Judges the command of an agent on its standard streams; see docs/applications.md."""

    def __call__(
        self,
        command: str | Sequence[str],
        *,
        protocol: str = AGENT_PROTOCOL,
        scenarios: Sequence[str] = (),
        without: Iterable[str] = (),
        profile: str | None = None,
        timeout: float = _USUAL.timeout,
        passed: Sequence[str] = (),
    ) -> Report:
        """The report; the test fails with it where a rule is broken.

        `command` is a command line or its words; of the test's environment it gets what programs
        need to start and the variables named in `passed`, and the URL of the played model.
        `timeout` is how long a turn may take, in seconds. `protocol`, `scenarios` and `without` are
        as those options of `conformance run`.
        """
        limits = ExchangeLimits(timeout, min(timeout, _USUAL.idle))

        agents: list[AgentTarget] = []

        def started(model: str) -> AgentTarget:
            agents.append(
                AgentTarget(
                    *(command, protocol), url=model, model=MODEL, limits=limits, passed=passed
                )
            )
            return agents[-1]

        report = self._judge_scenarios(started, protocol, scenarios, without, profile)
        left = [each for agent in agents for each in agent.left]
        return replace(report, notes=(*report.notes, *leftover_notes("agent", left)))


async def _run_scenarios(
    make: MakeTarget, protocol: str, scenarios: Sequence[str], options: RunOptions
) -> RunOutcome:
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        async with AsyncExitStack() as stack:
            upstream = await stack.enter_async_context(serve_upstream(0))
            target = await stack.enter_async_context(make(f"http://127.0.0.1:{upstream.port}"))
            return await run_application(
                target,
                protocol,
                load_scenarios(scenarios),
                options,
                Path(folder),
                upstream=upstream,
            )
