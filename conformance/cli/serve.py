"""`conformance serve`: recordings played to a client under test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from conformance.cli.failures import CONFORMS, FINDINGS
from conformance.cli.listening import (
    announce_ready,
    exit_code_on_signal,
    settle_exit,
    warn_beyond_loopback,
)
from conformance.cli.options import AllowHostOption, AllowOriginOption, PortFileOption
from conformance.cli.terminal import put, warn
from conformance.cli.verbs import takes_fields_of
from conformance.core.errors import UsageError
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets.gateway import serve_upstream
from conformance.targets.replay import ReplayOptions, ReplayServer, ServedRequest, url_prefix
from conformance.wire.hosts import AllowedHosts


class ServeArguments(Struct, frozen=True, kw_only=True):
    """The command line as it was given."""

    paths: Annotated[
        list[Path] | None, typer.Argument(help="Recordings, or folders of cassettes.")
    ] = None
    scripted: Annotated[
        bool,
        typer.Option(
            "--scripted",
            help="Play a scripted server, in every API, as the upstream of a gateway under test.",
        ),
    ] = False
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")
    ] = 0
    port_file: PortFileOption = None
    allow_host: AllowHostOption = None
    allow_origin: AllowOriginOption = None
    chunking: Annotated[
        str,
        typer.Option(
            help="recorded, events, bytes:N or seed:N (at random, and inside markers, characters"
            " and line ends)."
        ),
    ] = "recorded"
    timing: Annotated[str, typer.Option(help="recorded, none or scale:F.")] = "none"
    cut: Annotated[str | None, typer.Option(help="Cut the answer after event:K or byte:N.")] = None
    how: Annotated[str, typer.Option(help="How a cut ends the connection: fin or rst.")] = "fin"
    stall: Annotated[
        str | None,
        typer.Option(help="Send nothing more after event:K or byte:N, and stay connected."),
    ] = None
    corrupt: Annotated[
        str | None, typer.Option(help="Flip a bit at the end of event:K, or of byte:N.")
    ] = None
    comments: Annotated[
        bool, typer.Option("--comments", help="Insert SSE comments, also inside events.")
    ] = False
    crlf: Annotated[bool, typer.Option("--crlf", help="End lines with CR LF.")] = False
    repeat: Annotated[
        bool, typer.Option("--repeat", help="Replay exchanges again; default: each one once.")
    ] = False
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="Field of the body that need not match, such as a.*.b; repeatable."
        ),
    ] = None
    match_header: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Request header that must also match; repeatable."),
    ] = None
    exact_path: Annotated[
        bool, typer.Option("--exact-path", help="Distinguish /v1/responses from /responses.")
    ] = False
    exit_when_used: Annotated[
        bool, typer.Option("--exit-when-used", help="Exit when every exchange was replayed.")
    ] = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit 1 if a request got no answer, or an exchange was never replayed."
        ),
    ] = False
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print no line per request.")] = False


@takes_fields_of(ServeArguments)
def serve_command(given: ServeArguments) -> None:
    """Replay recordings to a client, or play a scripted server."""
    if given.scripted:
        if given.paths or given.host != "127.0.0.1":
            raise UsageError("--scripted plays no recordings, and on 127.0.0.1 only")
        raise typer.Exit(asyncio.run(_serve_script(given)))
    if not given.paths:
        raise UsageError("no recording is named", hint="or --scripted")
    options = ReplayOptions.parse(
        chunking=given.chunking,
        timing=given.timing,
        cut=given.cut,
        how=given.how,
        stall=given.stall,
        corrupt=given.corrupt,
        comments=given.comments,
        crlf=given.crlf,
        repeat=given.repeat,
        ignore=given.ignore or (),
        headers=given.match_header or (),
        exact_paths=given.exact_path,
    )
    session = _ServingSession(exit_when_used=given.exit_when_used, quiet=given.quiet)
    server = ReplayServer(
        given.paths,
        options=options,
        on_exchange=session.take_exchange,
        host=given.host,
        port=given.port,
        hosts=AllowedHosts.at(given.host, given.allow_host or (), given.allow_origin or ()),
    )
    warn_beyond_loopback(given.host)
    code = asyncio.run(session.serve_until_end(server, given.port_file))
    put(_serving_summary(server, session.misses))
    unwanted = session.misses or server.unused()
    raise typer.Exit(FINDINGS if given.strict and unwanted else code)


async def _serve_script(given: ServeArguments) -> int:
    """Answers requests until a signal comes; gives the exit code."""
    code = exit_code_on_signal()

    def report_request(method: str, path: str, status: int) -> None:
        if not given.quiet:
            warn(f"{visible(method, 20)} {visible(path, 120)} -> {status}")

    async with serve_upstream(given.port, given.allow_origin or (), report_request) as upstream:
        announce_ready(f"http://127.0.0.1:{upstream.port}", given.port_file)
        return await code


class _ServingSession:
    """When serving ends, and what happened until then."""

    def __init__(self, *, exit_when_used: bool, quiet: bool) -> None:
        self.misses = 0
        self._exit_when_used = exit_when_used
        self._quiet = quiet
        self._code: asyncio.Future[int] | None = None
        self._server: ReplayServer | None = None

    async def serve_until_end(self, server: ReplayServer, port_file: Path | None) -> int:
        """Serves until a signal comes, or everything is used; the exit code."""
        self._server, self._code = server, exit_code_on_signal()
        async with server:
            announce_ready(server.url, port_file)
            code = await self._code
            if self._exit_when_used and not code:
                await server.settled()
            return code

    def take_exchange(self, served: ServedRequest) -> None:
        self.misses += served.outcome in ("refused", "rejected")
        if not self._quiet:
            warn(_describe_exchange(served))
        used = self._server is not None and not self._server.unused()
        if self._exit_when_used and used and self._code is not None:
            settle_exit(self._code, CONFORMS)


def _describe_exchange(served: ServedRequest) -> str:
    request = visible(
        f"{served.method} {url_prefix(served.name, served.session)}{served.path}".strip() or "?",
        120,
    )
    line = f"#{served.number} connection {served.connection}: {request} -> {served.status}"
    if served.exchange is None:
        return f"{line} {served.outcome}: {visible(served.why)}"
    again = f", time {served.times}" if served.times > 1 else ""
    size = f"{served.sent} of {count(served.size, 'byte')}"
    outcome = f"{served.outcome}, {size}, {served.ms:.1f} ms"
    return f"{line} {visible(str(served.exchange))}{again}: {outcome}"


def _serving_summary(server: ReplayServer, misses: int) -> str:
    unused = server.unused()
    facts = [
        count(server.requests, "request"),
        count(server.connections, "connection"),
        f"{misses} without an answer",
        f"{count(len(unused), 'exchange')} unused",
    ]
    names = [f"unused: {visible(str(address))}" for address in unused[:20]]
    more = [f"and {len(unused) - 20} more"] if len(unused) > 20 else []
    return "\n".join([*names, *more, ", ".join(facts)])
