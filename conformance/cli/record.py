"""`conformance record`: a server's answers into cassettes, requested or passing by."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette.header import named_target
from conformance.cli import options as shared
from conformance.cli.completing import complete_scenario
from conformance.cli.failures import USAGE
from conformance.cli.listening import (
    allow_descriptors,
    announce_ready,
    exit_code_on_signal,
    listening_address,
    upstream_origin,
    warn_beyond_loopback,
)
from conformance.cli.terminal import put, warn
from conformance.cli.verbs import takes_fields_of
from conformance.core.errors import Place, RemoteError, UsageError
from conformance.core.events import Exchange
from conformance.core.excerpts import redacted
from conformance.dialects import ENDPOINTS, SUPPORTED, dialect_at
from conformance.dialects.base import Reading
from conformance.profiles.lookup import find, has_profile
from conformance.recordings.redacted_result import Clean
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.runs import RequestSettings, scenario_requests
from conformance.runs.options import API_WORDS, credential_headers, dialects_of, sent_headers
from conformance.runs.refusals import elsewhere, error_words, refusal
from conformance.scenarios import load_scenarios
from conformance.targets.aws_signing import aws_signer
from conformance.targets.recording import (
    DirectRequest,
    ExchangeOutcome,
    Origin,
    ProxyLimits,
    ProxyTimeouts,
    RecordingOptions,
    RecordingProxy,
    RecordingQueue,
    RequestSequence,
    fixed_requests,
    load_requests,
    record_directly,
)
from conformance.wire.faults import ExchangeLimits
from conformance.wire.hosts import AllowedHosts
from conformance.wire.trust import certificates

_SUFFIXES: Final = (".cassette.jsonl", ".cassette.jsonl.gz")
_LIMITS: Final = ExchangeLimits()


class RecordArguments(Struct, frozen=True, kw_only=True):
    """The command line as it was given."""

    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="PATH", help="Cassette to write; with --proxy a folder."
        ),
    ]
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send the requests to this base URL or whole URL."),
    ] = None
    request: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Requests to send: a JSON body, or those of a recording."
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Requests to send: every step of a scenario (a name or file).",
            autocompletion=complete_scenario,
        ),
    ] = None
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Model that --scenario asks for.")
    ] = None
    max_tokens: shared.TokensOption = 2048
    api: Annotated[
        str | None, typer.Option(help=f"{API_WORDS}; default: from the end of the URL.")
    ] = None
    proxy: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Listen here and forward to --upstream; port 0: any free one."
        ),
    ] = None
    upstream: Annotated[
        str | None, typer.Option(metavar="URL", help="Server to which --proxy forwards.")
    ] = None
    port_file: shared.PortFileOption = None
    allow_host: shared.AllowHostOption = None
    allow_origin: shared.AllowOriginOption = None
    cacert: shared.CacertOption = None
    insecure: shared.InsecureOption = False
    header: shared.HeaderOption = None
    header_env: shared.HeaderEnvOption = None
    api_key_env: shared.KeyOption = None
    api_key_header: shared.KeyHeaderOption = None
    aws_region: shared.AwsRegionOption = None
    profile: shared.ProfileOption = None
    target: shared.TargetOption = ""
    timeout: shared.TimeoutOption = _LIMITS.timeout
    idle_timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            help="Seconds of silence that a stream may have; default: 60, with --proxy 600.",
        ),
    ] = None
    max_bytes: shared.BytesOption = _LIMITS.max_bytes
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Keep secrets and opaque data.")
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Replace the cassette if it exists.")] = (
        False
    )


@takes_fields_of(RecordArguments)
def record_command(given: RecordArguments) -> None:
    """Record a server's answers, or a client's traffic as a proxy."""
    if given.profile is not None and not any(
        has_profile(each, given.profile) for each in ENDPOINTS
    ):
        raise UsageError(f"no profile {given.profile!r}", hint="see conformance list profiles")
    terms = RecordingOptions(
        redact=not given.no_redact,
        max_bytes=given.max_bytes,
        profile=given.profile,
        target=named_target(given.target),
    )
    if given.proxy is not None:
        raise typer.Exit(_record_passing(given, given.proxy, terms))
    _record_asking(given, terms)


def _record_passing(given: RecordArguments, proxy: str, terms: RecordingOptions) -> int:
    """Stands between until a signal comes. The exit code."""
    _refuse_options({"--url": given.url, "--request": given.request, "--scenario": given.scenario})
    _refuse_options(
        {"--model": given.model, "--api": given.api, "--api-key-env": given.api_key_env}
    )
    others: Mapping[str, object] = {
        "-H": given.header,
        "--header-env": given.header_env,
        "--aws-region": given.aws_region,
    }
    _refuse_options(others, "a client behind the proxy sends its own")
    if given.upstream is None:
        raise UsageError("--proxy needs --upstream URL")
    upstream = upstream_origin(given.upstream, given.cacert, insecure=given.insecure)
    host, port = listening_address(proxy)
    counts = _ProxyCounts()
    recorder = RecordingProxy(
        upstream,
        RecordingQueue(given.output, terms, tell=counts.take),
        host=host,
        port=port,
        timeouts=ProxyTimeouts(idle=given.idle_timeout or ProxyTimeouts().idle),
        warn=lambda text: warn(visible(text)),
        limits=ProxyLimits(clients=allow_descriptors(ProxyLimits().clients, each=2)),
        hosts=AllowedHosts.at(host, given.allow_host or (), given.allow_origin or ()),
    )
    warn_beyond_loopback(host)
    code = asyncio.run(_serve_proxy(recorder, given.port_file))
    files = count(len(counts.files), "cassette")
    put(f"{given.output}: {count(counts.exchanges, 'exchange')} in {files}")
    return USAGE if recorder.failures else code


class _ProxyCounts(Struct):
    exchanges: int = 0
    files: set[str] = field(default_factory=set)

    def take(self, file: str, outcome: ExchangeOutcome) -> None:
        self.exchanges += 1
        self.files.add(file)
        warn(f"{file}: {_describe_exchange(outcome)}")


async def _serve_proxy(proxy: RecordingProxy, port_file: Path | None) -> int:
    code = exit_code_on_signal()
    async with proxy:
        gc.collect()
        gc.freeze()  # loaded code stays: collecting it again would pause every client
        announce_ready(proxy.url, port_file)
        return await code


def _record_asking(given: RecordArguments, terms: RecordingOptions) -> None:
    """Asks a server, and shows what came."""
    others: Mapping[str, object] = {
        "--upstream": given.upstream,
        "--port-file": given.port_file,
        "--allow-host": given.allow_host,
        "--allow-origin": given.allow_origin,
    }
    _refuse_options(others, "it belongs to --proxy HOST:PORT")
    if given.url is None or (given.request is None) is (given.scenario is None):
        expected = "--url URL with --request FILE or --scenario NAME, or --proxy with --upstream"
        raise UsageError(f"expected {expected}")
    secrets = credential_headers(given.api_key_env, given.api_key_header)
    origin, path = _parse_endpoint(given.url, given)
    headers = sent_headers(given.header or (), given.header_env or ())
    if given.request is not None:
        requests = load_requests(given.request, path, origin.path)
        requests = [_addressed_request(each, given) for each in requests]
        known = dialect_at(origin.target(requests[0].path))
        dialect = known or next(iter(SUPPORTED))
        sources = fixed_requests([_with_headers(each, headers) for each in requests])
    else:
        known = dialect = _scenario_dialect(given, origin, path)
        origin = replace(origin, path=origin.path.removesuffix(ENDPOINTS[dialect].path))
        sources = _scenario_requests(given, dialect, headers)
    if known and given.profile:
        find(given.profile, known)  # no check would take a cassette that names another API's
    _check_target(given.output, force=given.force)
    look = _RefusalLook(origin.netloc, given.model or "", redacted)
    recording = record_directly(
        *(origin, sources, given.output, terms),
        limits=_asking_limits(given),
        secrets=secrets.get(dialect),
        signer=aws_signer(given.aws_region, given.api_key_env),
        look=look.take,
    )
    for outcome in asyncio.run(recording):
        put(f"{given.output}: {_describe_exchange(outcome)}")
    if look.refused is not None:
        raise look.refused


def _asking_limits(given: RecordArguments) -> ExchangeLimits:
    idle = given.idle_timeout or _LIMITS.idle
    return ExchangeLimits(timeout=given.timeout, idle=idle, max_bytes=given.max_bytes)


class _RefusalLook(Struct):
    """Whether the first answer is one of an API; a scenario may be refused later on purpose."""

    name: str
    model: str
    clean_line: Clean
    refused: RemoteError | None = None
    is_first: bool = True

    def take(self, exchange: Exchange) -> None:
        if self.is_first:
            words = self.clean_line(error_words(exchange, Reading()))
            refused = refusal(exchange, self.name, words, self.model)
            self.refused = refused or elsewhere(exchange, self.name)
        self.is_first = False


def _addressed_request(request: DirectRequest, given: RecordArguments) -> DirectRequest:
    """The request at the place that its body speaks of, where the path of the API says that."""
    named = dialects_of(() if given.api is None else (given.api,))
    known = (ENDPOINTS[each] for each in named or ENDPOINTS)
    endpoint = next((each for each in known if each.path == request.path), None)
    if endpoint is None:
        return request
    path, body = endpoint.address(request.body, given.model or "")
    return replace(request, path=path, body=body)


def _scenario_dialect(given: RecordArguments, origin: Origin, path: str | None) -> str:
    if not given.model:
        raise UsageError("--scenario needs --model ID")
    if given.api is not None:  # several APIs may share one path
        return dialects_of((given.api,))[0]
    dialect = dialect_at(origin.target(path or ""))
    if dialect is None:
        raise UsageError("--scenario needs --api", hint=API_WORDS)
    return dialect


def _scenario_requests(
    given: RecordArguments, dialect: str, headers: Mapping[str, str]
) -> RequestSequence:
    """Every step of a scenario, each below the API's base URL."""
    (scenario,) = load_scenarios([given.scenario or ""])
    settings = RequestSettings(given.model or "", given.max_tokens)
    return scenario_requests(scenario, dialect, settings, headers, tell=warn)


def _describe_exchange(outcome: ExchangeOutcome) -> str:
    request = f"{outcome.method} {outcome.path}"
    status = "no answer" if outcome.status is None else str(outcome.status)
    facts = f"{count(outcome.chunks, 'chunk')}, {count(outcome.size, 'byte')}, {outcome.end}"
    note = f" ({outcome.note})" if outcome.note else ""
    return visible(f"{request}: {status}, {facts}{note}")


def _refuse_options(options: Mapping[str, object], hint: str = "") -> None:
    for name, value in options.items():
        if value is not None and value != []:
            raise UsageError(f"{name} does not go with this", hint=hint)


def _parse_origin(url: str, given: RecordArguments) -> Origin:
    """A server, and who vouches for it. Raises UsageError."""
    if given.cacert is not None:
        certificates(str(given.cacert))
    return Origin.parse(url, str(given.cacert or ""), insecure=given.insecure)


def _parse_endpoint(url: str, given: RecordArguments) -> tuple[Origin, str | None]:
    """The server, and the path that a request body goes to."""
    origin = _parse_origin(url, given)
    dialects = dialects_of(() if given.api is None else (given.api,))
    if dialect_at(origin.path) is not None:
        return origin, ""
    if not dialects:
        return origin, None
    endpoint = ENDPOINTS[dialects[0]]
    base = origin if origin.path else _parse_origin(f"{url.rstrip('/')}{endpoint.base}", given)
    return base, endpoint.path


def _check_target(target: Path, *, force: bool) -> None:
    place = Place(str(target))
    if not target.name.endswith(_SUFFIXES):
        raise UsageError("expected a name in .cassette.jsonl", place=place)
    if target.exists() and not force:
        raise UsageError("already exists", place=place, hint="--force replaces it")
    target.parent.mkdir(parents=True, exist_ok=True)


def _with_headers(request: DirectRequest, given: Mapping[str, str]) -> DirectRequest:
    names = {name.lower() for name in given}
    kept = tuple((name, value) for name, value in request.headers if name.lower() not in names)
    return replace(request, headers=(*kept, *given.items()))
