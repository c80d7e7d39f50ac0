"""`conformance record`: a server's answers into cassettes, asked for or passing by."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from conformance.cli.failures import CONFORMS, INTERRUPTED, USAGE
from conformance.cli.options import ProfileOption
from conformance.cli.target_options import (
    APIS,
    LIMITS,
    BytesOption,
    HeaderOption,
    KeyHeaderOption,
    KeyOption,
    TimeoutOption,
    headers,
    secrets,
)
from conformance.cli.terminal import put, warn
from conformance.errors import Place, UsageError
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.scenarios.model import PATHS
from conformance.targets.recording import (
    Asking,
    Origin,
    Patience,
    RecordingProxy,
    Shelf,
    Terms,
    Told,
    dialect_of,
    load_requests,
    record_directly,
)
from conformance.targets.server_limits import Limits

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


def command(  # noqa: PLR0917  # typer makes options of parameters
    output: OutputOption,
    url: UrlOption = None,
    request: RequestOption = None,
    api: ApiOption = None,
    proxy: ProxyOption = None,
    upstream: UpstreamOption = None,
    port_file: PortFileOption = None,
    header: HeaderOption = None,
    api_key_env: KeyOption = None,
    key_header: KeyHeaderOption = None,
    profile: ProfileOption = None,
    timeout: TimeoutOption = LIMITS.timeout,
    idle_timeout: SilenceOption = None,
    max_bytes: BytesOption = LIMITS.max_bytes,
    no_redact: NoRedactOption = False,
    force: ForceOption = False,
) -> None:
    """Record a server's answers as they come: asked for, or passed on to a client."""
    terms = Terms(redact=not no_redact, max_bytes=max_bytes, profile=profile)
    if proxy is not None:
        _refuse({"--url": url, "--request": request, "--api": api, "--api-key-env": api_key_env})
        _refuse({"-H": header}, "a client behind the proxy sends its own")
        if upstream is None:
            raise UsageError("--proxy needs --upstream URL")
        patience = Patience(idle=idle_timeout or Patience().idle)
        recorder = _Proxying(Origin.parse(upstream), *_address(proxy), patience)
        raise typer.Exit(asyncio.run(recorder.run(output, terms, port_file)))
    _refuse({"--upstream": upstream, "--port-file": port_file}, "it belongs to --proxy HOST:PORT")
    if url is None or request is None:
        raise UsageError("expected --url URL with --request FILE, or --proxy with --upstream")
    limits = Limits(timeout=timeout, idle=idle_timeout or LIMITS.idle, max_bytes=max_bytes)
    keys = secrets(api_key_env, key_header)
    asking = _Asking(*_endpoint(url, api), request, headers(header or ()))
    asked = asking.load()
    _make_way(output, force=force)
    asking.run(asked, output, terms, limits, keys)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Who is asked what."""

    origin: Origin
    path: str | None
    request: Path
    headers: Mapping[str, str]

    def load(self) -> list[Asking]:
        loaded = load_requests(self.request, self.path, self.origin.path)
        return [_with_headers(one, self.headers) for one in loaded]

    def run(
        self,
        asked: list[Asking],
        output: Path,
        terms: Terms,
        limits: Limits,
        keys: Mapping[str, Mapping[str, str]],
    ) -> None:
        dialect = dialect_of(self.origin.target(asked[0].path)) or APIS["chat"]
        told = asyncio.run(
            record_directly(
                self.origin, asked, output, terms, limits=limits, secrets=keys.get(dialect)
            )
        )
        for one in told:
            put(f"{output}: {_account(one)}")


class _Proxying:
    """The proxy until a signal comes."""

    def __init__(self, upstream: Origin, host: str, port: int, patience: Patience) -> None:
        self._upstream = upstream
        self._host, self._port = host, port
        self._patience = patience
        self._exchanges = 0
        self._files: set[str] = set()

    async def run(self, folder: Path, terms: Terms, port_file: Path | None) -> int:
        """The exit code."""
        loop = asyncio.get_running_loop()
        code: asyncio.Future[int] = loop.create_future()
        for number, meaning in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, CONFORMS)):
            loop.add_signal_handler(number, _settle, code, meaning)
        proxy = RecordingProxy(
            self._upstream,
            Shelf(folder, terms, tell=self._tell),
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

    def _tell(self, file: str, told: Told) -> None:
        self._exchanges += 1
        self._files.add(file)
        warn(f"{file}: {_account(told)}")


def _settle(code: asyncio.Future[int], value: int) -> None:
    if not code.done():
        code.set_result(value)


def _account(told: Told) -> str:
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
    if origin.path.endswith(tuple(PATHS.values())):
        return origin, ""
    if api is None:
        return origin, None
    return origin if origin.path else Origin.parse(f"{url.rstrip('/')}/v1"), PATHS[APIS[api]]


def _make_way(target: Path, *, force: bool) -> None:
    place = Place(str(target))
    if not target.name.endswith(_SUFFIXES):
        raise UsageError("expected a name in .cassette.jsonl", place=place)
    if target.exists() and not force:
        raise UsageError("is there already", place=place, hint="--force replaces it")
    target.unlink(missing_ok=True)


def _with_headers(asked: Asking, given: Mapping[str, str]) -> Asking:
    names = {name.lower() for name in given}
    kept = tuple((name, value) for name, value in asked.headers if name.lower() not in names)
    return replace(asked, headers=(*kept, *given.items()))
