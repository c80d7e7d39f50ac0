"""An application under test, hosted in this process, with a played model behind it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from conformance.core.errors import ConformanceError
from conformance.judging.result import Report
from conformance.report import text
from conformance.report.redacted import redact_report
from conformance.runs import RunOptions, run_application
from conformance.runs.options import parse_capabilities
from conformance.scenarios import load_scenarios
from conformance.targets import asgi
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer

MakeApplication = Callable[[str], asgi.Application]
"""Makes the application; it is given the URL, without `/v1`, that its provider has to ask."""

_MODEL: Final = "scripted"


@dataclass(frozen=True, slots=True)
class ApplicationJudge:
    """Judges an application by the scenarios for applications; see docs/applications.md.

    `strict`: advice that is not followed fails the test, too. `profile` is used where a call names
    none.
    """

    strict: bool
    profile: str | None = None

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

        `path` is where the application is asked. `scenarios` and `without` are as those options of
        `conformance run`.
        """
        options = RunOptions(
            model=_MODEL,
            dialects=(protocol,),
            profile=profile or self.profile,
            without=parse_capabilities(list(without)),
        )
        try:
            report = asyncio.run(_run(make, protocol, path, scenarios, options))
        except ConformanceError as err:
            raise pytest.fail.Exception(str(err), pytrace=False) from None
        if report.exit_code(strict=self.strict):
            raise pytest.fail.Exception(text.render(redact_report(report)), pytrace=False)
        return report


async def _run(
    make: MakeApplication,
    protocol: str,
    path: str,
    scenarios: Sequence[str],
    options: RunOptions,
) -> Report:
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        async with AsyncExitStack() as stack:
            upstream = await stack.enter_async_context(serve_upstream(0))
            application = make(f"http://127.0.0.1:{upstream.port}")
            transport = await stack.enter_async_context(asgi.hosted(application))
            server = LiveServer(f"{asgi.URL}{path}", transport=transport)
            outcome = await run_application(
                await stack.enter_async_context(server),
                protocol,
                load_scenarios(scenarios),
                options,
                Path(folder),
                upstream=upstream,
            )
    return outcome.report
