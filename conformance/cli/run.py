"""`conformance run`: scenarios against a live target, verdicts and findings out."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Final, Self, get_type_hints

import typer

from conformance.baseline import apply, load
from conformance.cli import run_client
from conformance.cli import target_options as live
from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING, REMOTE
from conformance.cli.options import (
    AsOfOption,
    ExercisedOption,
    ExpectedOption,
    FormatOption,
    OutputsOption,
    RuleOption,
    StrictOption,
    SuiteOption,
)
from conformance.cli.terminal import has_colour, put, warn
from conformance.core.errors import UsageError
from conformance.dialects import ENDPOINTS
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.report import text
from conformance.report.files import output, write
from conformance.report.formats import render, renderer
from conformance.report.printable import visible
from conformance.report.redacted import redacted
from conformance.runs import (
    RunOptions,
    RunOutcome,
    only_model,
    plan_requests,
    promises_of,
    recorded_scenarios,
    request_costs,
    run_server,
)
from conformance.scenarios import Scenario, load_scenarios, own_request
from conformance.targets import asgi
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer
from conformance.targets.server_limits import ExchangeLimits

_NO: Final = frozenset({"", "0", "false", "no"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line as it was given: the options, a line each."""

    url: live.UrlOption = None
    asgi_app: live.AsgiOption = None
    gateway: live.GatewayOption = None
    upstream_port: live.UpstreamOption = None
    client: run_client.ClientOption = None
    cassette: run_client.CassetteOption = None
    cases: run_client.CasesOption = "full"
    model: live.ModelOption = None
    api: live.ApiOption = None
    profile: live.LiveProfileOption = None
    scenario: live.ScenarioOption = None
    request: live.RequestOption = None
    suite: SuiteOption = None
    rule: RuleOption = None
    rules_as_of: AsOfOption = None
    without: live.WithoutOption = None
    target: live.TargetOption = ""
    save: live.SaveOption = None
    show_plan: live.PlanOption = False
    max_requests: live.RequestsOption = None
    rpm: live.RpmOption = None
    max_wait: live.WaitOption = 60.0
    max_tokens: live.TokensOption = 2048
    jobs: live.JobsOption = 1
    repeat: live.RepeatOption = 1
    confirm: live.ConfirmOption = 1
    timeout: live.TimeoutOption = live.LIMITS.timeout
    idle_timeout: live.IdleOption = live.LIMITS.idle
    max_bytes: live.BytesOption = live.LIMITS.max_bytes
    header: live.HeaderOption = None
    api_key_env: live.KeyOption = None
    api_key_header: live.KeyHeaderOption = None
    expected_failures: ExpectedOption = None
    strict: StrictOption = False
    require_exercised: ExercisedOption = False
    outputs: OutputsOption = None
    format_: FormatOption = "text"
    verbose: live.VerboseOption = False


def command(**given: Any) -> None:
    """Judge a live server by scenarios, or a client by recordings."""
    raise typer.Exit(_run(Asked(**given)))


# typer makes options of a function's parameters; here they are the fields of `Asked`.
command.__annotations__ = get_type_hints(Asked, include_extras=True)
vars(command)["__signature__"] = signature(Asked, eval_str=True)


def _run(asked: Asked) -> int:
    renderer(asked.format_)
    for each in asked.outputs or ():
        output(each)  # a mistake here is told before the work, not after
    baseline = load(asked.expected_failures) if asked.expected_failures else None
    if asked.client is not None:
        with Line() as line:
            client = run_client.judged(asked, line.show)
        report = redacted(apply(client.report, baseline) if baseline else client.report)
        _tell(asked, report)
        return _code(asked, report, RunOutcome(report, scenarios=client.cases))
    options = _options(asked)
    scenarios = _scenarios(asked, options)
    if asked.show_plan:
        put(_planned(options, scenarios, is_gateway=asked.gateway is not None))
        return CONFORMS
    with _folder(asked.save) as folder, Line() as line:
        outcome = asyncio.run(_live(asked, options, scenarios, folder, line.show))
        line.clear()
        report = outcome.report
        report = redacted(apply(report, baseline) if baseline else report)
        _tell(asked, report)
    return _code(asked, report, outcome)


async def _live(
    asked: Asked,
    options: RunOptions,
    scenarios: Sequence[Scenario],
    folder: Path,
    progress: Callable[[str], None],
) -> RunOutcome:
    limits = ExchangeLimits(asked.timeout, asked.idle_timeout, max_bytes=asked.max_bytes)
    async with AsyncExitStack() as stack:
        transport = None
        if asked.asgi_app is not None:
            application = asgi.load_application(asked.asgi_app)
            state = await stack.enter_async_context(asgi.running_lifespan(application))
            transport = asgi.Transport(application, state)
        server = await stack.enter_async_context(
            LiveServer(
                asked.url or asked.gateway or asgi.URL,
                limits=limits,
                headers=live.headers(asked.header or ()),
                transport=transport,
            )
        )
        upstream = None
        if asked.upstream_port is not None:
            upstream = await stack.enter_async_context(serve_upstream(asked.upstream_port))
        if not options.model:
            model = await only_model(server, options.secrets, options.dialects)
            options = replace(options, model=model)
        return await run_server(server, scenarios, options, folder, progress, upstream=upstream)


def _options(asked: Asked) -> RunOptions:
    targets = [each for each in (asked.url, asked.asgi_app, asked.gateway) if each is not None]
    if len(targets) != 1:
        expected = "--url URL, --asgi MODULE:APP, --gateway URL or --client CMD"
        raise UsageError(f"expected one target: {expected}")
    if (asked.gateway is None) != (asked.upstream_port is None):
        raise UsageError("--gateway URL and --upstream-port N go together")
    if asked.cassette and asked.gateway is None:
        raise UsageError("--cassette goes with --client and --gateway")
    if asked.profile is None and os.environ.get("CI", "").lower() not in _NO:
        hint = "--profile NAME, or --profile auto"
        raise UsageError("under CI a profile must be named", hint=hint)
    return RunOptions(
        model=asked.model or "",
        dialects=live.dialects(asked.api or ()),
        profile=None if asked.profile == "auto" else asked.profile,
        without=live.lacking(asked.without or ()),
        max_tokens=asked.max_tokens,
        jobs=asked.jobs,
        repeat=asked.repeat,
        confirm=asked.confirm,
        max_requests=asked.max_requests,
        rpm=asked.rpm,
        patience=asked.max_wait,
        save=asked.save,
        target=asked.target,
        suites=tuple(asked.suite or ()),
        rules=tuple(asked.rule or ()),
        as_of=asked.rules_as_of,
        secrets=live.secrets(asked.api_key_env, asked.api_key_header),
    )


def _scenarios(asked: Asked, options: RunOptions) -> tuple[Scenario, ...]:
    recorded: tuple[Scenario, ...] = ()
    if asked.cassette:
        rulebook = Rulebook.load(options.suites, options.rules, options.as_of)
        recorded = recorded_scenarios(asked.cassette, rulebook, options.folders)
    if asked.request is None:
        named = asked.scenario or not recorded
        return (*(load_scenarios(asked.scenario or ()) if named else ()), *recorded)
    if recorded:
        raise UsageError("--request and --cassette do not go together")
    if asked.scenario:
        raise UsageError("--request and --scenario do not go together")
    if len(options.dialects) != 1:
        raise UsageError("a request body needs one --api", hint=live.API_WORDS)
    return (own_request(asked.request, options.dialects[0]),)


def _planned(options: RunOptions, scenarios: Sequence[Scenario], *, is_gateway: bool) -> str:
    """The requests of a run, a line each, and what they can cost at most."""
    lines: list[str] = []
    requests = tokens = 0
    for dialect in options.dialects or tuple(ENDPOINTS):
        promises = promises_of(options, dialect)
        planned = plan_requests(
            scenarios,
            dialect,
            without=options.without,
            promises=promises,
            repeat=options.repeat,
            gateway=is_gateway,
        )
        lines += [f"{dialect}, {planned.request_count} requests"]
        for name, line, cap in request_costs(planned, options.max_tokens):
            lines.append(f"  {name:<32} {line:<28} {cap:>8} tokens at most")
            tokens += cap
        lines += [f"  {each.name:<32} not run: {each.why}" for each in planned.left_out]
        requests += planned.request_count
    lines.append(f"{requests} requests, {tokens} output tokens at most; nothing was sent")
    return "\n".join(lines)


@contextmanager
def _folder(save: Path | None) -> Iterator[Path]:
    if save is not None:
        yield save
        return
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        yield Path(folder)


def _tell(asked: Asked, report: Report) -> None:
    if asked.format_ == "text":
        page = text.render(report, verbose=asked.verbose, colour=has_colour(), has_errors=False)
    else:
        page = render(report, asked.format_, verbose=asked.verbose)
    put(page)
    write(report, *(asked.outputs or ()), verbose=asked.verbose, shown=asked.format_)


def _code(asked: Asked, report: Report, outcome: RunOutcome) -> int:
    for line in (*report.errors, *outcome.unanswered):
        warn(f"error: {visible(line)}")
    code = report.exit_code(strict=asked.strict, require_exercised=asked.require_exercised)
    # The first that applies; findings come after a target that fell silent.
    if outcome.unanswered and code in (CONFORMS, FINDINGS):
        return REMOTE
    if code == CONFORMS and not outcome.scenarios:
        warn("error: no scenario was run")
        return NOTHING
    return code


class Line:
    """One line of progress on a terminal, written over and over; silent elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, line: str) -> None:
        if self._is_shown:
            sys.stderr.write(f"\r\x1b[K{visible(line, 100)}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
