"""Records answers by asking for them: each chunk as the server cut it, on disk as it comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.cassette import is_recording, open_recording
from conformance.cassette.redact import REDACTED
from conformance.cassette.source import whole
from conformance.core.errors import CassetteError, Place, RemoteError, UsageError
from conformance.core.events import Chunk, Ending, Exchange, Request
from conformance.dialects import ENDPOINTS, asks_for_stream, dialect_at
from conformance.targets.recording.shelf import CassetteFile, RecordingOptions
from conformance.targets.recording.take import ExchangeOutcome, ExchangeRecorder
from conformance.targets.server_limits import ExchangeLimits
from conformance.wire.client import ClientConnection, ResponseHead
from conformance.wire.faults import BrokenExchange
from conformance.wire.heads import Headers, end_to_end, without_headers
from conformance.wire.origin import Origin

_MOST_REQUEST: Final = 64 * 1024 * 1024
_MOST_REMEMBERED: Final = 16 * 1024 * 1024
_OWN: Final = ("host", "content-length", "accept-encoding")


@dataclass(frozen=True, slots=True)
class DirectRequest:
    """A request as it goes out: the path below the server's URL, headers with credentials."""

    path: str
    body: Any = None
    method: str = "POST"
    headers: Headers = ()
    after: int | None = None
    scenario: str = ""
    role: str = ""


RequestSequence = Generator[DirectRequest, Exchange, None]
"""Requests, one after the other; each is told what the one before it was answered, as it came."""


def load_requests(file: Path, path: str | None, base: str = "") -> list[DirectRequest]:
    """The requests of a file: one JSON body, or those of a recording, to be asked anew.

    `path` is where a body goes, below `base`; None: a recording knows. Raises CassetteError,
    UsageError.
    """
    if file.suffix.lower() == ".json" or not is_recording(file):
        if path is None:
            paths = ", ".join(endpoint.path for endpoint in ENDPOINTS.values())
            hint = f"or a URL that ends in {' or '.join(paths.rsplit(', ', 1))}"
            raise UsageError("a request body needs --api", place=Place(str(file)), hint=hint)
        return [DirectRequest(path, _body(file))]
    asked = [
        DirectRequest(
            path=each.request.path.removeprefix(base) if path is None else path,
            body=each.request.json,
            method=each.request.method,
            headers=tuple(pair for pair in each.request.headers if pair[1] != REDACTED),
            after=each.after,
            scenario=each.scenario,
            role=each.role,
        )
        for each in open_recording(file).exchanges
        if each.request is not None
    ]
    if not asked:
        raise CassetteError("holds no request", place=Place(str(file)))
    return asked


def fixed_requests(asked: Iterable[DirectRequest]) -> RequestSequence:
    """Requests that stand fast, whatever is answered."""
    for one in asked:  # noqa: UP028  # a list cannot be told what came, as `yield from` would
        yield one


async def record_directly(
    origin: Origin,
    asked: RequestSequence,
    target: Path,
    terms: RecordingOptions,
    *,
    limits: ExchangeLimits,
    secrets: Mapping[str, str] | None = None,
) -> list[ExchangeOutcome]:
    """Asks one after the other and writes one cassette. What came of each.

    What is told to `asked` is kept in memory, up to 16 MiB of each answer.

    Raises RemoteError where no response head came (what was sent is in the cassette), CassetteError
    where the cassette cannot be written.
    """
    reel: CassetteFile | None = None
    told: list[ExchangeOutcome] = []
    try:
        one = next(asked, None)
        while one is not None:
            request = _request(origin, one, secrets or {})
            reel = reel or CassetteFile(target, terms, request, via="direct")
            take = reel.start_exchange(
                request,
                one.after,
                when_full="client-closed",
                step=(one.scenario, one.role),
                remembers=_MOST_REMEMBERED,
            )
            try:
                came, heard = await _record(origin, request, take, limits)
            finally:
                reel.finish_exchange()
            told.append(came)
            one = _next(asked, heard)
    finally:
        if reel is not None:
            reel.writer.close()
    return told


def _next(asked: RequestSequence, heard: Exchange) -> DirectRequest | None:
    try:
        return asked.send(heard)
    except StopIteration:
        return None


async def _record(
    origin: Origin, request: Request, take: ExchangeRecorder, limits: ExchangeLimits
) -> tuple[ExchangeOutcome, Exchange]:
    """What to tell of an exchange, and the exchange as it came."""
    run = _Run(origin, request, take, limits)
    how: Ending = "client-closed"
    note = ""
    try:
        async with asyncio.timeout(limits.timeout):
            how, note = await run.ask()
    except TimeoutError:
        note = f"it had not ended after {limits.timeout:g} s"
    except BrokenExchange as broken:
        how, note = broken.end, str(broken)
    finally:
        told = take.record_end(how, note)
    if run.head is None:
        raise RemoteError(f"{origin.netloc}: {note}")
    return told, Exchange(
        number=take.number,
        request=request,
        response=run.head.response,
        chunks=(Chunk(take.start),),
        end=how,
        dialect=dialect_at(request.path),
    )


class _Run:
    """One request and its answer."""

    def __init__(
        self, origin: Origin, request: Request, take: ExchangeRecorder, limits: ExchangeLimits
    ) -> None:
        self.head: ResponseHead | None = None
        self._origin = origin
        self._request = request
        self._take = take
        self._limits = limits

    async def ask(self) -> tuple[Ending, str]:
        """How it ended. Raises BrokenExchange."""
        request, limits = self._request, self._limits
        connection = await ClientConnection.connect(self._origin, timeout=limits.connect)
        try:
            body = b"" if request.json is None else _encoded(request.json)
            await connection.send_request(request.method, request.path, request.headers, body)
            idle = limits.idle if asks_for_stream(request.path, request.json) else None
            head = self.head = await connection.read_head(request.method, idle=idle)
            self._take.record_head(head.response)
            async for parts in connection.read_body(head, idle=idle):
                self._take.record_parts(parts)
                if self._take.is_full:
                    return "client-closed", self._take.note
            return "eof", ""
        finally:
            connection.abort()


def _request(origin: Origin, asked: DirectRequest, secrets: Mapping[str, str]) -> Request:
    own = without_headers(end_to_end(asked.headers), *_OWN, *(name.lower() for name in secrets))
    fixed: Headers = (
        ("host", origin.netloc),
        ("accept-encoding", "identity"),
        ("user-agent", "reasoning-conformance"),
        ("content-type", "application/json"),
    )
    target = origin.target(asked.path)
    dialect = dialect_at(target)
    if dialect is not None:
        fixed = (*fixed, *ENDPOINTS[dialect].headers)
    names = {name.lower() for name, _ in own}
    defaults = tuple((name, value) for name, value in fixed if name not in names)
    return Request(asked.method, target, (*defaults, *own, *secrets.items()), asked.body)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _body(file: Path) -> Any:
    try:
        return msgspec.json.decode(whole(file, max_bytes=_MOST_REQUEST))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        message = f"expected a request body in JSON: {err}"
        raise CassetteError(message, place=Place(str(file))) from err
