"""`conformance run`: scenarios against a live target, verdicts and findings out."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer
from msgspec import Struct, field, structs

from conformance.baseline.entries import load_baseline
from conformance.cli.early_findings import EarlyFindings
from conformance.cli.failures import CONFORMS, FINDINGS, INTERRUPTED, NOTHING, REMOTE
from conformance.cli.judged_report import CallClock, check_outputs, put_report, warn_unanswered
from conformance.cli.options import with_config_notes
from conformance.cli.run_options import (
    RunArguments,
    at_base,
    client_options,
    server_options,
    with_agent_defaults,
)
from conformance.cli.terminal import progress_line, put, warn, warn_errors
from conformance.cli.verbs import takes_fields_of
from conformance.core.errors import ConformanceError, RemoteError, UsageError
from conformance.dialects import ENDPOINTS, SOCKET_FORMS
from conformance.dialects.personas import named_persona
from conformance.dialects.script import MODEL
from conformance.judging.result import Report
from conformance.judging.rulebook import Rulebook
from conformance.runs import (
    RunOptions,
    RunOutcome,
    only_model,
    plan_requests,
    profiles_of,
    recorded_scenarios,
    request_costs,
    run_application,
    run_server,
)
from conformance.runs.api_run import RunDisplay
from conformance.runs.options import API_WORDS, sent_headers
from conformance.scenarios import Scenario, load_scenarios, own_request
from conformance.targets import asgi
from conformance.targets.agent import AgentTarget
from conformance.targets.aws_signing import aws_signer
from conformance.targets.child_process import leftover_notes
from conformance.targets.client import run_client
from conformance.targets.gateway import serve_upstream
from conformance.targets.server import LiveServer, TurnTarget
from conformance.targets.waiting import wait_until_listening
from conformance.wire.faults import ExchangeLimits
from conformance.wire.origin import Origin
from conformance.wire.trust import certificates
from conformance.wire.upgrade import http_url, names_socket, require_websockets


@takes_fields_of(RunArguments)
def run_command(given: RunArguments) -> None:
    """Judge a live server, gateway, application, agent or client."""
    outputs = given.outputs or ()
    check_outputs(given.format_, outputs)
    baseline = load_baseline(given.expected_failures) if given.expected_failures else None
    target = given.url or given.gateway or given.asgi_app or given.client or given.agent or ""
    kept = given.save is not None or given.client is not None
    clock = CallClock(given.suite or (), given.rules_as_of, target=target, kept=kept)
    early = EarlyFindings(given.format_, baseline)
    with _run_folder(given.save) as folder:
        is_client = given.client is not None
        outcome = _judge_client(given, early) if is_client else _judge_server(given, folder, early)
        report = with_config_notes(clock.stopped(outcome.report))
        report = put_report(report, baseline, given.format_, outputs, verbose=given.verbose)
    raise typer.Exit(_exit_code(given, report, outcome))


def _judge_client(given: RunArguments, early: EarlyFindings) -> RunOutcome:
    options = client_options(given)
    with progress_line() as show:
        outcome = run_client(given.client or "", given.cassette or (), options, show, early.show)
    return RunOutcome(outcome.report, scenarios=outcome.cases)


def _judge_server(given: RunArguments, folder: Path, early: EarlyFindings) -> RunOutcome:
    given = with_agent_defaults(_with_socket_apis(at_base(given)))
    options = server_options(given)
    scenarios = _load_scenarios(given, options)
    if given.show_plan:
        put(_render_plan(options, scenarios, is_gateway=given.upstream_port is not None))
        raise typer.Exit(CONFORMS)
    with progress_line() as show:
        run = _LiveRun(
            given=given,
            options=options,
            scenarios=scenarios,
            folder=folder,
            display=RunDisplay(show, early.show),
        )
        return asyncio.run(run.run())


class _LiveRun(Struct, kw_only=True):
    """A live run; `left` lists the processes that outlived the command of an agent."""

    given: RunArguments
    options: RunOptions
    scenarios: Sequence[Scenario]
    folder: Path
    display: RunDisplay
    left: list[str] = field(default_factory=list)

    async def run(self) -> RunOutcome:
        try:
            outcome = await self._run_target()
        except ConformanceError:
            for note in leftover_notes("agent", self.left):
                warn(f"warning: {note}")
            raise
        notes = (*outcome.report.notes, *leftover_notes("agent", self.left))
        return structs.replace(outcome, report=structs.replace(outcome.report, notes=notes))

    async def _run_target(self) -> RunOutcome:
        given, options = self.given, self.options
        async with AsyncExitStack() as stack:
            upstream = None
            if given.upstream_port is not None:
                served = serve_upstream(given.upstream_port, given.allow_origin or ())
                upstream = await stack.enter_async_context(served)
                upstream.persona = named_persona(given.persona) if given.persona else None
            if given.protocol is not None and upstream is not None:
                return await run_application(
                    await self._tested_target(stack, f"http://127.0.0.1:{upstream.port}"),
                    given.protocol,
                    self.scenarios,
                    options,
                    self.folder,
                    upstream=upstream,
                    display=self.display,
                )
            server = await _live_server(given, stack)
            listens = await wait_until_listening(server.url, given.wait)
            if not listens and upstream is not None and (came := upstream.strays.sentence()):
                # What a gateway asks for before it starts may be why it does not.
                why = f"{server.url.host}: nothing listens there after {given.wait:g} s"
                strays = f"meanwhile port {upstream.port} got {came}"
                raise RemoteError(f"{why}; {strays}", hint="see --gateway, --wait")
            if not options.model:
                played = MODEL if upstream is not None else ""
                model = await only_model(server, options.secrets, options.dialects, unlisted=played)
                options = replace(options, model=model)
            return await run_server(
                *(server, self.scenarios, options, self.folder, self.display), upstream=upstream
            )

    async def _tested_target(self, stack: AsyncExitStack, url: str) -> TurnTarget:
        """An application, or an agent; `url` is that of the played model."""
        if self.given.agent is None:
            server = await _live_server(self.given, stack)
            await wait_until_listening(server.url, self.given.wait)
            return server
        agent = _agent_target(self.given, self.options, url)
        agent.left = self.left
        return await stack.enter_async_context(agent)


async def _live_server(given: RunArguments, stack: AsyncExitStack) -> LiveServer:
    transport = None
    if given.asgi_app is not None:
        transport = await stack.enter_async_context(asgi.hosted_app(given.asgi_app))
    url = given.url or given.gateway or given.app_url or asgi.URL
    made = _server_maker(given, url)
    return await stack.enter_async_context(
        made(
            limits=_exchange_limits(given),
            headers=sent_headers(given.header or (), given.header_env or ()),
            transport=transport,
            trusted=_trusted_context(given),
            signer=aws_signer(given.aws_region, given.api_key_env),
            protocol=given.protocol,
        )
    )


def _agent_target(given: RunArguments, options: RunOptions, url: str) -> AgentTarget:
    return AgentTarget(
        given.agent or "",
        given.protocol or "",
        url=url,
        model=options.model or MODEL,
        limits=_exchange_limits(given),
        passed=given.passed or (),
    )


def _exchange_limits(given: RunArguments) -> ExchangeLimits:
    return ExchangeLimits(given.timeout, given.idle_timeout, max_bytes=given.max_bytes)


def _trusted_context(given: RunArguments) -> ssl.SSLContext | None:
    """Who may vouch for the server, where the user says so."""
    if given.cacert is None and not given.insecure:
        return None
    return certificates(str(given.cacert or ""), insecure=given.insecure)


def _load_scenarios(given: RunArguments, options: RunOptions) -> tuple[Scenario, ...]:
    recorded: tuple[Scenario, ...] = ()
    if given.cassette:
        rulebook = Rulebook.load(options.suites, options.rules, options.as_of)
        recorded = recorded_scenarios(given.cassette, rulebook, options.folders)
    if given.request is None:
        named = given.scenario or not recorded
        return (*(load_scenarios(given.scenario or ()) if named else ()), *recorded)
    if recorded:
        raise UsageError("--request and --cassette do not go together")
    if given.scenario:
        raise UsageError("--request and --scenario do not go together")
    if len(options.dialects) != 1:
        raise UsageError("a request body needs one --api", hint=API_WORDS)
    return (own_request(given.request, options.dialects[0]),)


def _render_plan(options: RunOptions, scenarios: Sequence[Scenario], *, is_gateway: bool) -> str:
    """The requests of a run, a line each, and what they can cost at most."""
    profiles, without = profiles_of(options)
    lines = list(without)
    requests = tokens = 0
    for dialect, profile in profiles.items():
        plan = plan_requests(scenarios, dialect, options, profile.promises, gateway=is_gateway)
        lines += [f"{dialect}, {plan.request_count} requests"]
        for name, line, cap in request_costs(plan, options.max_tokens):
            lines.append(f"  {name:<32} {line:<28} {cap:>8} tokens at most")
            tokens += cap
        lines += [f"  {each.name:<32} not run: {each.why}" for each in plan.left_out]
        requests += plan.request_count
    if options.soak:
        lines.append(f"then these again for {options.soak:g} s, {options.jobs} at a time")
    lines.append(f"{requests} requests, {tokens} output tokens at most; nothing was sent")
    return "\n".join(lines)


@contextmanager
def _run_folder(save: Path | None) -> Iterator[Path]:
    if save is not None:
        yield save
        return
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        yield Path(folder)


def _exit_code(given: RunArguments, report: Report, outcome: RunOutcome) -> int:
    warn_errors((*report.errors, *outcome.unanswered))
    if outcome.interrupted:
        return INTERRUPTED
    code = report.exit_code(strict=given.strict, require_exercised=given.require_exercised)
    if outcome.unanswered and code in (CONFORMS, FINDINGS) and not _has_news(given, report):
        return REMOTE
    if code == CONFORMS and not outcome.scenarios:
        is_client = given.client is not None
        warn(f"error: {'the client answered no case' if is_client else 'no scenario was run'}")
        return NOTHING
    if code == NOTHING:
        warn_unanswered(report)
    return code


def _has_news(given: RunArguments, report: Report) -> bool:
    """Whether findings fail the run, not what the target did not answer.

    That leaves rules unexercised and entries of a baseline without their findings, too.
    """
    if report.baseline is not None:
        return bool(report.unexpected)
    return report.exit_code(strict=given.strict) == FINDINGS


def _with_socket_apis(given: RunArguments) -> RunArguments:
    """For a WebSocket the APIs that are spoken over one. Raises UsageError for any other."""
    if not names_socket(given.url):
        return given
    require_websockets()
    spoken = [ENDPOINTS[dialect].api for dialect in SOCKET_FORMS]
    for api in given.api or ():
        if api not in spoken:
            hint = f"--api {' or '.join(spoken)}, or an http URL"
            raise UsageError(f"{api} is not spoken over WebSockets", hint=hint)
    return structs.replace(given, api=given.api or spoken)


def _server_maker(given: RunArguments, url: str) -> Callable[..., LiveServer]:
    if not names_socket(url):
        return partial(LiveServer, url)
    from conformance.targets.socket_server import SocketServer  # noqa: PLC0415  # its library is an extra

    plain = http_url(url)
    origin = Origin.parse(plain, str(given.cacert or ""), insecure=given.insecure)
    return partial(SocketServer, plain, origin=origin)
