"""The options of `conformance run`, a field each, and what they mean together."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit, urlunsplit

import typer
from msgspec import Struct
from msgspec.structs import replace

from conformance.cli import options as shared
from conformance.cli.completing import complete_profile, complete_scenario
from conformance.core.errors import UsageError
from conformance.dialects import AGENT_PROTOCOL, AGENTS, CALLABLE_APPLICATIONS, ENDPOINTS, SUPPORTED
from conformance.dialects.personas import NAMES
from conformance.runs import RunOptions
from conformance.runs.options import (
    API_WORDS,
    credential_headers,
    dialects_of,
    parse_capabilities,
    parse_duration,
)
from conformance.targets.client import ClientOptions
from conformance.wire.faults import ExchangeLimits
from conformance.wire.upgrade import names_socket

LIMITS: Final = ExchangeLimits()
CASE_DEADLINE: Final = 5.0  # seconds for one case of a client, unless --timeout says otherwise
_NO: Final = frozenset({"", "0", "false", "no"})


_URL_APPLICATIONS: Final = tuple(name for name in CALLABLE_APPLICATIONS if name not in AGENTS)


class RunArguments(Struct, frozen=True, kw_only=True):
    """The command line as it was given."""

    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Base URL of a server, http or ws; without a path, the API's own (/v1) is added.",
        ),
    ] = None
    asgi_app: Annotated[
        str | None,
        typer.Option(
            "--asgi", metavar="MODULE:APP", help="An ASGI application, run in this process."
        ),
    ] = None
    gateway: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Base URL of a gateway, whose provider is played at --upstream-port.",
        ),
    ] = None
    app_url: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="URL",
            help="URL of an application; this tool plays its model at --upstream-port.",
        ),
    ] = None
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Command of an agent that speaks on its standard streams; this tool plays its"
            " model (docs/applications.md).",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Protocol of the application: {' or '.join(_URL_APPLICATIONS)}; of an agent:"
            f" {' or '.join(AGENTS)} (default: {AGENT_PROTOCOL}).",
        ),
    ] = None
    upstream_port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65535,
            help="Port on which its provider is played; default for an agent: any free one.",
        ),
    ] = None
    wait: Annotated[
        float,
        typer.Option(
            metavar="S",
            min=0,
            max=3600,
            help="Seconds to wait for the target to listen; the played provider listens first.",
        ),
    ] = 0.0
    persona: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Provider whose thinking fields the played model sends: {', '.join(NAMES)}"
            " (default: chosen from the request).",
        ),
    ] = None
    allow_origin: shared.AllowOriginOption = None
    client: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Command of a client's adapter (docs/clients.md)."),
    ] = None
    passed: Annotated[
        list[str] | None,
        typer.Option(
            "--pass",
            metavar="NAME",
            help="Environment variable to pass to the command of --agent or --client; repeatable.",
        ),
    ] = None
    cassette: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Recording to replay to a client (default: all shipped ones), or as the"
            " provider of a gateway or application; repeatable.",
        ),
    ] = None
    cases: Annotated[
        Literal["quick", "full"],
        typer.Option(help="quick: each recording once; full: also each chunking, cut and edit."),
    ] = "full"
    only: Annotated[
        str,
        typer.Option(
            metavar="REPLAY", help="Replay to a client only in this way; findings name it."
        ),
    ] = ""
    model: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Model to ask for; default: the only one it lists."),
    ] = None
    api: Annotated[
        list[str] | None,
        typer.Option(help=f"{API_WORDS}; repeatable; default: all that the target has."),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            help="Profile: a name or a YAML file; auto: identified from the target's answers.",
            autocompletion=complete_profile,
        ),
    ] = None
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            help="Scenario: a name, file or folder; repeatable; default: all shipped.",
            autocompletion=complete_scenario,
        ),
    ] = None
    request: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Send this JSON body instead of scenarios; needs --api."),
    ] = None
    suite: shared.SuiteOption = None
    rule: shared.RuleOption = None
    rules_as_of: shared.AsOfOption = None
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CAPABILITY",
            help="What the target lacks: thinking, tools, tool-choice, stop, format, summary,"
            " encrypted, effort, limit or models.",
        ),
    ] = None
    target: shared.TargetOption = ""
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save all exchanges here, as cassettes.")
    ] = None
    show_plan: Annotated[
        bool, typer.Option("--plan", help="Print the requests, and send nothing.")
    ] = False
    max_requests: Annotated[
        int | None, typer.Option(min=1, help="Send at most this many requests; default: no limit.")
    ] = None
    rpm: Annotated[
        float | None, typer.Option(min=0.1, help="Requests per minute; default: no limit.")
    ] = None
    max_wait: Annotated[
        float, typer.Option(min=0, help="Longest Retry-After to obey, in seconds.")
    ] = 60.0
    max_tokens: shared.TokensOption = 2048
    jobs: Annotated[int, typer.Option(min=1, max=1024, help="Scenarios run at once.")] = 1
    repeat: Annotated[
        int, typer.Option(min=1, max=10_000, help="Rounds; from 2 on, answers are also compared.")
    ] = 1
    soak: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Then repeat the scenarios for a time, --jobs at once: 90s, 2m.",
        ),
    ] = None
    confirm: Annotated[
        int,
        typer.Option(min=1, max=100, help="Repeat each finding's request this many times."),
    ] = 1
    timeout: shared.TimeoutOption = LIMITS.timeout
    idle_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds of silence that a stream may have.")
    ] = LIMITS.idle
    max_bytes: shared.BytesOption = LIMITS.max_bytes
    header: shared.HeaderOption = None
    header_env: shared.HeaderEnvOption = None
    cacert: shared.CacertOption = None
    insecure: shared.InsecureOption = False
    api_key_env: shared.KeyOption = None
    api_key_header: shared.KeyHeaderOption = None
    aws_region: shared.AwsRegionOption = None
    expected_failures: shared.ExpectedOption = None
    strict: shared.StrictOption = False
    require_exercised: shared.ExercisedOption = False
    outputs: shared.OutputsOption = None
    format_: shared.FormatOption = "text"
    verbose: shared.VerboseOption = False


_REFINING: Final = [
    ENDPOINTS[each.name] for each in SUPPORTED.values() if each.refines and each.name in ENDPOINTS
]
"""Endpoints of APIs that share the path of a more general one: only --api names them."""


def at_base(given: RunArguments) -> RunArguments:
    """With a URL that names a whole endpoint: that API alone, at its base.

    Raises UsageError where another API was named.
    """
    if given.url is None:
        return given
    address = urlsplit(given.url)
    path = address.path.rstrip("/")
    named = [each for each in ENDPOINTS.values() if path.endswith(each.path) and each.serves(path)]
    usual = [each for each in named if path.endswith(each.base + each.path)]
    wanted = [each for each in usual or named if given.api == [each.api]]
    found = wanted or [each for each in usual or named if each not in _REFINING]
    if len(found) != 1:
        return given
    (endpoint,) = found
    if given.api and given.api != [endpoint.api]:
        hint = f"--api {endpoint.api}, or none"
        raise UsageError(f"--url names the endpoint of {endpoint.api}", hint=hint)
    base = address._replace(path=path.removesuffix(endpoint.path) or "/")
    return replace(given, url=urlunsplit(base), api=[endpoint.api])


_ANY_API: Final = "the model is played in whatever API the application uses"


def with_agent_defaults(given: RunArguments) -> RunArguments:
    """An agent speaks its usual protocol, and learns at which port we play its model."""
    if given.agent is None:
        return given
    port = given.upstream_port or 0
    return replace(given, protocol=given.protocol or AGENT_PROTOCOL, upstream_port=port)


def server_options(given: RunArguments) -> RunOptions:
    """Raises UsageError for options that do not go together."""
    targets = (given.url, given.asgi_app, given.gateway, given.app_url, given.agent)
    if sum(each is not None for each in targets) != 1:
        expected = "--url URL, --asgi MODULE:APP, --gateway URL, --app URL, --agent CMD"
        raise UsageError(f"expected one target: {expected} or --client CMD")
    _check_application(given)
    is_between = given.gateway is not None or given.protocol is not None
    if is_between != (given.upstream_port is not None):
        which = "--gateway URL" if given.protocol is None else "--protocol NAME"
        raise UsageError(f"{which} and --upstream-port N go together")
    _check_companions(given, is_between=is_between)
    if given.profile is None and os.environ.get("CI", "").lower() not in _NO:
        hint = "--profile NAME, or --profile auto"
        raise UsageError("under CI a profile must be named", hint=hint)
    return RunOptions(
        model=given.model or "",
        dialects=(given.protocol,) if given.protocol else dialects_of(given.api or ()),
        profile=None if given.profile == "auto" else given.profile,
        without=parse_capabilities(given.without or ()),
        max_tokens=given.max_tokens,
        jobs=given.jobs,
        repeat=given.repeat,
        soak=None if given.soak is None else parse_duration(given.soak),
        confirm=given.confirm,
        max_requests=given.max_requests,
        rpm=given.rpm,
        patience=given.max_wait,
        save=given.save,
        target=given.target,
        suites=tuple(given.suite or ()),
        rules=tuple(given.rule or ()),
        as_of=given.rules_as_of,
        secrets=credential_headers(given.api_key_env, given.api_key_header),
        streams_only=names_socket(given.url),
    )


def _check_companions(given: RunArguments, *, is_between: bool) -> None:
    """Raises UsageError for options without the target that they are for."""
    if given.only:
        raise UsageError("--only goes with --client")
    if given.passed and given.agent is None:
        raise UsageError("--pass goes with --agent and --client: no other command is started")
    if given.allow_origin and not is_between:
        raise UsageError("--allow-origin goes with --upstream-port N: nothing else listens")
    if given.aws_region and given.url is None:
        raise UsageError("--aws-region goes with --url")
    if given.cassette and not is_between:
        raise UsageError("--cassette goes with --client and --gateway, and with --protocol")


def _check_application(given: RunArguments) -> None:
    """Raises UsageError for options that do not go with an application, or without one."""
    if given.app_url is not None and given.protocol is None:
        hint = f"--protocol {' or '.join(CALLABLE_APPLICATIONS)}"
        raise UsageError("--app URL and --protocol NAME go together", hint=hint)
    if given.protocol is None:
        return
    offered, kind = (
        (AGENTS, "agent") if given.agent is not None else (_URL_APPLICATIONS, "application")
    )
    if given.protocol not in offered:
        other = "--agent CMD" if given.protocol in AGENTS else "--app URL"
        hint = f"one of {', '.join(offered)}"
        hint = f"{hint}; it needs {other}" if given.protocol in CALLABLE_APPLICATIONS else hint
        raise UsageError(f"no {kind} speaks {given.protocol!r}", hint=hint)
    if given.url is not None or given.gateway is not None:
        raise UsageError("--protocol NAME goes with --app URL, --asgi MODULE:APP or --agent CMD")
    others: Mapping[str, object] = {
        "--api": given.api,
        "--request": given.request,
        "--soak": given.soak is not None,
        "--repeat": given.repeat > 1,
    }
    for name, value in others.items():
        if value:
            hint = _ANY_API if name == "--api" else ""
            raise UsageError(f"{name} and --protocol do not go together", hint=hint)


def client_options(given: RunArguments) -> ClientOptions:
    """Raises UsageError for options that do not go with a client."""
    of_servers: Mapping[str, object] = {
        "--url": given.url,
        "--asgi": given.asgi_app,
        "--gateway": given.gateway,
        "--app": given.app_url,
        "--agent": given.agent,
        "--protocol": given.protocol,
        "--upstream-port": given.upstream_port is not None,
        "--model": given.model,
        "--scenario": given.scenario,
        "--plan": given.show_plan,
        "--soak": given.soak is not None,
    }
    for name, value in of_servers.items():
        if value:
            raise UsageError(f"--client and {name} do not go together")
    return ClientOptions(
        profile=None if given.profile == "auto" else given.profile,
        server=None if given.cassette else given.profile,
        dialects=dialects_of(given.api or ()),
        suites=tuple(given.suite or ()),
        rules=tuple(given.rule or ()),
        as_of=given.rules_as_of,
        extent=given.cases,
        jobs=given.jobs,
        only=given.only,
        call=_client_call(given),
        passed=tuple(given.passed or ()),
        deadline=given.timeout if given.timeout != LIMITS.timeout else CASE_DEADLINE,
        save=given.save,
        target=given.target,
    )


def _client_call(given: RunArguments) -> str:
    """The command that runs this client, except its recordings."""
    words = ["conformance", "run", "--client", given.client or ""]
    words += ["--profile", given.profile] if given.profile else []
    for api in given.api or ():
        words += ["--api", api]
    for name in given.passed or ():
        words += ["--pass", name]
    return shlex.join(words)
