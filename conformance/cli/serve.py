"""`conformance serve`: recordings played to a client under test."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.failures import CONFORMS, FINDINGS, INTERRUPTED
from conformance.cli.terminal import put, warn
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets.replay import ReplayOptions, ReplayServer, SeenRequest, url_prefix

ChunkingOption = Annotated[
    str, typer.Option(help="recorded, events, bytes:N or seed:N (at random, and where it hurts).")
]
CutOption = Annotated[
    str | None, typer.Option(help="Break the answer off after event:K or byte:N.")
]
StallOption = Annotated[
    str | None, typer.Option(help="Fall silent after event:K or byte:N, and stay connected.")
]
CommentsOption = Annotated[
    bool, typer.Option("--comments", help="Insert SSE comments, also inside events.")
]
RepeatOption = Annotated[
    bool, typer.Option("--repeat", help="Answer again; default: each exchange once.")
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="Body field that need not match, as a.*.b; repeatable."),
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Request header that must match, too; repeatable."),
]
ExactPathOption = Annotated[
    bool, typer.Option("--exact-path", help="Tell /v1/responses from /responses.")
]
PortFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the port there once it listens.")
]
WhenUsedOption = Annotated[
    bool, typer.Option("--exit-when-used", help="End when every exchange has answered.")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit 1 if a request had no answer, or an exchange no use.")
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="No line per request.")]


def command(  # noqa: PLR0917  # typer makes options of parameters
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of cassettes.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free.")] = 0,
    port_file: PortFileOption = None,
    chunking: ChunkingOption = "recorded",
    timing: Annotated[str, typer.Option(help="recorded, none or scale:F.")] = "none",
    cut: CutOption = None,
    how: Annotated[str, typer.Option(help="How a cut ends the connection: fin or rst.")] = "fin",
    stall: StallOption = None,
    comments: CommentsOption = False,
    crlf: Annotated[bool, typer.Option("--crlf", help="End lines with CR LF.")] = False,
    repeat: RepeatOption = False,
    ignore: IgnoreOption = None,
    match_header: HeaderOption = None,
    exact_path: ExactPathOption = False,
    exit_when_used: WhenUsedOption = False,
    strict: StrictOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play recordings to a client under test."""
    fields, names = tuple(ignore or ()), tuple(match_header or ())
    parse = partial(ReplayOptions.parse, ignore=fields, headers=names, exact_paths=exact_path)
    knobs = parse(chunking=chunking, timing=timing, cut=cut, how=how, stall=stall)
    options = replace(knobs, comments=comments, crlf=crlf, repeat=repeat)
    stop = _Stop(exit_when_used=exit_when_used, quiet=quiet)
    server = ReplayServer(paths, options=options, on_exchange=stop.take, host=host, port=port)
    code = asyncio.run(stop.serve(server, port_file))
    put(_summary(server, stop))
    unwanted = stop.misses or server.unused()
    raise typer.Exit(FINDINGS if strict and unwanted else code)


class _Stop:
    """When serving ends, and what happened until then."""

    def __init__(self, *, exit_when_used: bool, quiet: bool) -> None:
        self.misses = 0
        self._exit_when_used = exit_when_used
        self._quiet = quiet
        self._code: asyncio.Future[int] | None = None
        self._server: ReplayServer | None = None

    async def serve(self, server: ReplayServer, port_file: Path | None) -> int:
        """Serves until a signal comes, or everything is used; the exit code."""
        loop = asyncio.get_running_loop()
        self._server, self._code = server, loop.create_future()
        loop.add_signal_handler(signal.SIGINT, self._end, INTERRUPTED)
        loop.add_signal_handler(signal.SIGTERM, self._end, CONFORMS)
        async with server:
            if port_file is not None:
                write_whole(port_file, f"{server.port}\n".encode())
            put(f"READY {server.url}")
            code = await self._code
            if self._exit_when_used and not code:
                await server.settled()
            return code

    def take(self, seen: SeenRequest) -> None:
        """One request has its end."""
        self.misses += seen.outcome in ("refused", "rejected")
        if not self._quiet:
            warn(_line(seen))
        if self._exit_when_used and self._server is not None and not self._server.unused():
            self._end(CONFORMS)

    def _end(self, code: int) -> None:
        if self._code is not None and not self._code.done():
            self._code.set_result(code)


def _line(seen: SeenRequest) -> str:
    asked = visible(
        f"{seen.method} {url_prefix(seen.name, seen.session)}{seen.path}".strip() or "?", 120
    )
    told = f"#{seen.number} connection {seen.connection}: {asked} -> {seen.status}"
    if seen.exchange is None:
        return f"{told} {seen.outcome}: {visible(seen.why)}"
    again = f", time {seen.times}" if seen.times > 1 else ""
    size = f"{seen.sent} of {count(seen.size, 'byte')}"
    return f"{told} {visible(str(seen.exchange))}{again}: {seen.outcome}, {size}, {seen.ms:.1f} ms"


def _summary(server: ReplayServer, stop: _Stop) -> str:
    unused = server.unused()
    facts = [
        count(server.requests, "request"),
        count(server.connections, "connection"),
        f"{stop.misses} without an answer",
        f"{count(len(unused), 'exchange')} unused",
    ]
    names = [f"unused: {visible(str(address))}" for address in unused[:20]]
    more = [f"and {len(unused) - 20} more"] if len(unused) > 20 else []
    return "\n".join([*names, *more, ", ".join(facts)])
