"""`conformance record`: a server's answers into cassettes, asked for or passing by."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints

import typer

from conformance.cli.failures import CONFORMS, INTERRUPTED, USAGE
from conformance.cli.options import ProfileOption
from conformance.cli.target_options import (
    API_WORDS,
    LIMITS,
    BytesOption,
    HeaderOption,
    KeyHeaderOption,
    KeyOption,
    TargetOption,
    TimeoutOption,
    TokensOption,
    headers,
    secrets,
    target_named,
)
from conformance.cli.terminal import put, warn
from conformance.core.errors import Place, UsageError
from conformance.dialects import APIS, ENDPOINTS, SUPPORTED, dialect_at
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.runs import RequestSettings, scenario_requests
from conformance.scenarios import load_scenarios
from conformance.targets.recording import (
    DirectRequest,
    ExchangeOutcome,
    Origin,
    ProxyTimeouts,
    RecordingFolder,
    RecordingOptions,
    RecordingProxy,
    RequestSequence,
    fixed_requests,
    load_requests,
    record_directly,
)
from conformance.targets.server_limits import ExchangeLimits

_SUFFIXES: Final = (".cassette.jsonl", ".cassette.jsonl.gz")


OutputOption = Annotated[
    Path, typer.Option("-o", "--output", metavar="PATH", help="Cassette, or folder of --proxy.")
]
UrlOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Ask this server: base URL, or whole.")
]
RequestOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What to ask: a JSON body, or a recording's requests."),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What to ask: every step of a scenario, by name or file."),
]
ModelOption = Annotated[
    str | None, typer.Option(metavar="ID", help="Model that --scenario asks for.")
]
ApiOption = Annotated[
    str | None, typer.Option(help="chat, responses or messages; default: by the URL's end.")
]
ProxyOption = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Listen here and pass on; port 0: any.")
]
UpstreamOption = Annotated[str | None, typer.Option(metavar="URL", help="Server behind --proxy.")]
PortFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the port there once it listens.")
]
SilenceOption = Annotated[
    float | None,
    typer.Option(
        "--idle-timeout",
        min=0.1,
        help="Seconds of silence in a stream; default: 60, of --proxy 600.",
    ),
]
NoRedactOption = Annotated[
    bool, typer.Option("--no-redact", help="Keep secrets and opaque data as they came.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the cassette.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The command line as it was given: the options, a line each."""

    output: OutputOption
    url: UrlOption = None
    request: RequestOption = None
    scenario: ScenarioOption = None
    model: ModelOption = None
    max_tokens: TokensOption = 2048
    api: ApiOption = None
    proxy: ProxyOption = None
    upstream: UpstreamOption = None
    port_file: PortFileOption = None
    header: HeaderOption = None
    api_key_env: KeyOption = None
    key_header: KeyHeaderOption = None
    profile: ProfileOption = None
    target: TargetOption = ""
    timeout: TimeoutOption = LIMITS.timeout
    idle_timeout: SilenceOption = None
    max_bytes: BytesOption = LIMITS.max_bytes
    no_redact: NoRedactOption = False
    force: ForceOption = False


def command(**given: Any) -> None:
    """Record a server's answers as they come: asked for, or passed on to a client."""
    asked = Given(**given)
    terms = RecordingOptions(
        redact=not asked.no_redact,
        max_bytes=asked.max_bytes,
        profile=asked.profile,
        target=target_named(asked.target),
    )
    if asked.proxy is not None:
        raise typer.Exit(_pass_on(asked, asked.proxy, terms))
    _ask(asked, terms)


# typer makes options of a function's parameters; here they are the fields of `Given`.
command.__annotations__ = get_type_hints(Given, include_extras=True)
vars(command)["__signature__"] = signature(Given, eval_str=True)


def _pass_on(given: Given, proxy: str, terms: RecordingOptions) -> int:
    """Stands between until a signal comes. The exit code."""
    _refuse({"--url": given.url, "--request": given.request, "--scenario": given.scenario})
    _refuse({"--model": given.model, "--api": given.api, "--api-key-env": given.api_key_env})
    _refuse({"-H": given.header}, "a client behind the proxy sends its own")
    if given.upstream is None:
        raise UsageError("--proxy needs --upstream URL")
    patience = ProxyTimeouts(idle=given.idle_timeout or ProxyTimeouts().idle)
    recorder = _Proxying(Origin.parse(given.upstream), *_address(proxy), patience)
    return asyncio.run(recorder.run(given.output, terms, given.port_file))


def _ask(given: Given, terms: RecordingOptions) -> None:
    """Asks a server, and tells what came."""
    others = {"--upstream": given.upstream, "--port-file": given.port_file}
    _refuse(others, "it belongs to --proxy HOST:PORT")
    if given.url is None or (given.request is None) is (given.scenario is None):
        expected = "--url URL with --request FILE or --scenario NAME, or --proxy with --upstream"
        raise UsageError(f"expected {expected}")
    idle = given.idle_timeout or LIMITS.idle
    limits = ExchangeLimits(timeout=given.timeout, idle=idle, max_bytes=given.max_bytes)
    secret = secrets(given.api_key_env, given.key_header)
    endpoint, own = _endpoint(given.url, given.api), headers(given.header or ())
    if given.request is not None:
        plan = _of_file(given.request, *endpoint, own)
    else:
        way = RequestSettings(given.model or "", given.max_tokens)
        plan = _of_scenario(given.scenario or "", *endpoint, own, way)
    _make_way(given.output, force=given.force)
    told = asyncio.run(plan.record(given.output, terms, limits, secret.get(plan.dialect)))
    for one in told:
        put(f"{given.output}: {_account(one)}")


@dataclass(frozen=True, slots=True)
class _Plan:
    """Who is asked what, in which API."""

    origin: Origin
    asked: RequestSequence
    dialect: str

    async def record(
        self,
        output: Path,
        terms: RecordingOptions,
        limits: ExchangeLimits,
        secret: Mapping[str, str] | None,
    ) -> list[ExchangeOutcome]:
        return await record_directly(
            self.origin, self.asked, output, terms, limits=limits, secrets=secret
        )


def _of_file(request: Path, origin: Origin, path: str | None, given: Mapping[str, str]) -> _Plan:
    """The requests of a file."""
    loaded = load_requests(request, path, origin.path)
    dialect = dialect_at(origin.target(loaded[0].path)) or next(iter(SUPPORTED))
    return _Plan(origin, fixed_requests([_with_headers(one, given) for one in loaded]), dialect)


def _of_scenario(
    name: str, origin: Origin, path: str | None, given: Mapping[str, str], way: RequestSettings
) -> _Plan:
    """Every step of a scenario, each below the API's base URL."""
    if not way.model:
        raise UsageError("--scenario needs --model ID")
    dialect = dialect_at(origin.target(path or ""))
    if dialect is None:
        raise UsageError("--scenario needs --api", hint=API_WORDS)
    (scenario,) = load_scenarios([name])
    base = replace(origin, path=origin.path.removesuffix(ENDPOINTS[dialect].path))
    return _Plan(base, scenario_requests(scenario, dialect, way, given, tell=warn), dialect)


class _Proxying:
    """The proxy until a signal comes."""

    def __init__(self, upstream: Origin, host: str, port: int, patience: ProxyTimeouts) -> None:
        self._upstream = upstream
        self._host, self._port = host, port
        self._patience = patience
        self._exchanges = 0
        self._files: set[str] = set()

    async def run(self, folder: Path, terms: RecordingOptions, port_file: Path | None) -> int:
        """The exit code."""
        loop = asyncio.get_running_loop()
        code: asyncio.Future[int] = loop.create_future()
        for number, meaning in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, CONFORMS)):
            loop.add_signal_handler(number, _settle, code, meaning)
        proxy = RecordingProxy(
            self._upstream,
            RecordingFolder(folder, terms, tell=self._tell),
            host=self._host,
            port=self._port,
            patience=self._patience,
            warn=lambda text: warn(visible(text)),
        )
        async with proxy:
            if port_file is not None:
                write_whole(port_file, f"{proxy.url.rsplit(':', 1)[1]}\n".encode())
            put(f"READY {proxy.url}")
            exit_code = await code
        files = count(len(self._files), "cassette")
        put(f"{folder}: {count(self._exchanges, 'exchange')} in {files}")
        return USAGE if proxy.failures else exit_code

    def _tell(self, file: str, told: ExchangeOutcome) -> None:
        self._exchanges += 1
        self._files.add(file)
        warn(f"{file}: {_account(told)}")


def _settle(code: asyncio.Future[int], value: int) -> None:
    if not code.done():
        code.set_result(value)


def _account(told: ExchangeOutcome) -> str:
    asked = f"{told.request.method} {told.request.path}"
    status = "no answer" if told.status is None else str(told.status)
    facts = f"{count(told.chunks, 'chunk')}, {count(told.size, 'byte')}, {told.end}"
    note = f" ({told.note})" if told.note else ""
    return visible(f"{asked}: {status}, {facts}{note}")


def _refuse(options: Mapping[str, object], hint: str = "") -> None:
    for name, value in options.items():
        if value is not None and value != []:
            raise UsageError(f"{name} does not go with this", hint=hint)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"expected --proxy HOST:PORT, got {text!r}")
    return host.strip("[]"), int(port)


def _endpoint(url: str, api: str | None) -> tuple[Origin, str | None]:
    """The server, and the path that a request body goes to."""
    origin = Origin.parse(url)
    if api is not None and api not in APIS:
        raise UsageError(f"no API is called {api!r}", hint=f"one of {', '.join(APIS)}")
    if dialect_at(origin.path) is not None:
        return origin, ""
    if api is None:
        return origin, None
    endpoint = ENDPOINTS[APIS[api]]
    base = origin if origin.path else Origin.parse(f"{url.rstrip('/')}{endpoint.base}")
    return base, endpoint.path


def _make_way(target: Path, *, force: bool) -> None:
    place = Place(str(target))
    if not target.name.endswith(_SUFFIXES):
        raise UsageError("expected a name in .cassette.jsonl", place=place)
    if target.exists() and not force:
        raise UsageError("is there already", place=place, hint="--force replaces it")
    target.unlink(missing_ok=True)


def _with_headers(asked: DirectRequest, given: Mapping[str, str]) -> DirectRequest:
    names = {name.lower() for name in given}
    kept = tuple((name, value) for name, value in asked.headers if name.lower() not in names)
    return replace(asked, headers=(*kept, *given.items()))
