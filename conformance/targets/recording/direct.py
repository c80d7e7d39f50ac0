"""Records answers by asking for them: each chunk as the server cut it, on disk as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import is_recording, open_recording
from conformance.cassette.redaction.redact import REDACTED
from conformance.cassette.source import read_whole
from conformance.core.errors import CassetteError, Place, RemoteError, UsageError
from conformance.core.events import Chunk, Ending, Exchange, Request
from conformance.core.excerpts import now_about, redacted
from conformance.dialects import ENDPOINTS, asks_for_stream, dialect_at
from conformance.targets.aws_signing import AwsSigner
from conformance.targets.recording.cassette_file import CassetteFile, RecordingOptions
from conformance.targets.recording.exchange import ExchangeOutcome, ExchangeRecorder
from conformance.wire.client import ClientConnection
from conformance.wire.faults import BrokenExchange, ExchangeLimits
from conformance.wire.heads import Headers, end_to_end, without_headers
from conformance.wire.origin import Origin
from conformance.wire.requests import sent_body

_MOST_REQUEST: Final = 64 * 1024 * 1024
_MOST_REMEMBERED: Final = 16 * 1024 * 1024
_OWN: Final = ("host", "content-length", "accept-encoding")


class DirectRequest(Struct, frozen=True):
    """A request as it goes out: the path below the server's URL, headers with credentials.

    `raw` is a body that is not JSON.
    """

    path: str
    body: Any = None
    raw: bytes = b""
    method: str = "POST"
    headers: Headers = ()
    after: int | None = None
    scenario: str = ""
    role: str = ""


RequestSequence = Generator[DirectRequest, Exchange, None]
"""Requests, one after the other; each learns what the one before it was answered, as it came."""


def load_requests(file: Path, path: str | None, base: str = "") -> list[DirectRequest]:
    """The requests of a file: one JSON body, or those of a recording, to be sent anew.

    `path` is where a body goes, below `base`; None: a recording knows. Raises CassetteError,
    UsageError.
    """
    if file.suffix.lower() == ".json" or not is_recording(file):
        if path is None:
            paths = ", ".join(endpoint.path for endpoint in ENDPOINTS.values())
            hint = f"or a URL that ends in {' or '.join(paths.rsplit(', ', 1))}"
            raise UsageError("a request body needs --api", place=Place(str(file)), hint=hint)
        return [DirectRequest(path, _load_body(file))]
    requests = [
        DirectRequest(
            path=each.request.path.removeprefix(base) if path is None else path,
            body=each.request.json,
            raw=each.request.raw or b"",
            method=each.request.method,
            headers=tuple(pair for pair in each.request.headers if pair[1] != REDACTED),
            after=each.after,
            scenario=each.scenario,
            role=each.role,
        )
        for each in open_recording(file).exchanges
        if each.request is not None
    ]
    if not requests:
        raise CassetteError("holds no request", place=Place(str(file)))
    return requests


def fixed_requests(requests: Iterable[DirectRequest]) -> RequestSequence:
    """Requests that stand fast, whatever is answered."""
    for one in requests:  # noqa: UP028  # a list cannot learn what came, as `yield from` would
        yield one


async def record_directly(
    origin: Origin,
    requests: RequestSequence,
    target: Path,
    options: RecordingOptions,
    *,
    limits: ExchangeLimits,
    secrets: Mapping[str, str] | None = None,
    signer: AwsSigner | None = None,
    look: Callable[[Exchange], None] = lambda _: None,
) -> list[ExchangeOutcome]:
    """Asks one after the other and writes one cassette. What came of each.

    What is reported to `requests` and `look` is kept in memory, up to 16 MiB of each answer.
    Nothing is written, and `target` is not replaced, before the server is reached.

    Raises RemoteError where no response head came (what was sent is in the cassette), CassetteError
    where the cassette cannot be written.
    """
    file: CassetteFile | None = None
    outcomes: list[ExchangeOutcome] = []
    try:
        one = next(requests, None)
        while one is not None:
            request = _signed_request(_request_to_send(origin, one, secrets or {}), origin, signer)
            connection = await _connect_to_origin(origin, limits)
            file = file or _new_file(target, options, request)
            recorder = _recorder_of(one, file, request)
            outcome, answered = await _record_exchange(connection, recorder, limits, origin.netloc)
            outcomes.append(outcome)
            look(answered)
            one = _next_request(requests, answered)
    finally:
        if file is not None:
            file.writer.close()
    return outcomes


def _next_request(requests: RequestSequence, answered: Exchange) -> DirectRequest | None:
    try:
        return requests.send(answered)
    except StopIteration:
        return None


def _new_file(target: Path, options: RecordingOptions, request: Request) -> CassetteFile:
    target.unlink(missing_ok=True)
    return CassetteFile(target, options, request, via="direct")


def _recorder_of(one: DirectRequest, file: CassetteFile, request: Request) -> ExchangeRecorder:
    return ExchangeRecorder(
        file,
        request,
        after=one.after,
        when_full="client-closed",
        step=(one.scenario, one.role),
        remembers=_MOST_REMEMBERED,
    )


async def _connect_to_origin(origin: Origin, limits: ExchangeLimits) -> ClientConnection:
    try:
        return await ClientConnection.connect(origin, timeout=min(limits.connect, limits.timeout))
    except BrokenExchange as broken:
        raise RemoteError(str(broken), hint=broken.hint) from broken


async def _record_exchange(
    connection: ClientConnection, recorder: ExchangeRecorder, limits: ExchangeLimits, name: str
) -> tuple[ExchangeOutcome, Exchange]:
    """Return the outcome to report, and the exchange as it came."""
    now_about(recorder.request)
    how: Ending = "client-closed"
    note = hint = ""
    try:
        async with asyncio.timeout(limits.timeout):
            how, note = await _send_and_record(connection, recorder, limits)
    except TimeoutError:
        note = f"it had not ended after {limits.timeout:g} s"
    except BrokenExchange as broken:
        how, note, hint = broken.end, str(broken), broken.hint
    finally:
        outcome = recorder.record_end(how, redacted(note))
    if recorder.response is None:
        raise RemoteError(f"{name}: {redacted(note)}", hint=hint)
    return outcome, Exchange(
        number=recorder.number,
        request=recorder.request,
        response=recorder.response,
        chunks=(Chunk(recorder.start),),
        end=how,
        dialect=dialect_at(recorder.request.path, recorder.request.json),
    )


async def _send_and_record(
    connection: ClientConnection, recorder: ExchangeRecorder, limits: ExchangeLimits
) -> tuple[Ending, str]:
    """How it ended. Raises BrokenExchange."""
    request = recorder.request
    try:
        await connection.send_request(
            request.method, request.path, request.headers, sent_body(request)
        )
        idle = limits.idle if asks_for_stream(request.path, request.json) else None
        head = await connection.read_head(request.method, idle=idle)
        recorder.record_head(head.response)
        async for parts in connection.read_body(head, idle=idle):
            recorder.record_parts(parts)
            if recorder.is_full:
                return "client-closed", recorder.note
        return "eof", ""
    finally:
        connection.abort()


def _request_to_send(origin: Origin, direct: DirectRequest, secrets: Mapping[str, str]) -> Request:
    own = without_headers(end_to_end(direct.headers), *_OWN, *(name.lower() for name in secrets))
    fixed: Headers = (
        ("host", origin.netloc),
        ("accept-encoding", "identity"),
        ("user-agent", "reasoning-conformance"),
        ("content-type", "application/json"),
    )
    target = origin.target(direct.path)
    dialect = dialect_at(target)
    if dialect is not None:
        fixed = (*fixed, *ENDPOINTS[dialect].headers)
    names = {name.lower() for name, _ in own}
    defaults = tuple((name, value) for name, value in fixed if name not in names)
    headers = (*defaults, *own, *secrets.items())
    return Request(direct.method, target, headers, direct.body).with_raw(direct.raw)


def _signed_request(request: Request, origin: Origin, signer: AwsSigner | None) -> Request:
    if signer is None:
        return request
    url = f"{'https' if origin.tls else 'http'}://{origin.netloc}{request.path}"
    more = signer.signed_headers(request.method, url, dict(request.headers), sent_body(request))
    return replace(request, headers=(*request.headers, *more.items()))


def _load_body(file: Path) -> Any:
    try:
        return msgspec.json.decode(read_whole(file, max_bytes=_MOST_REQUEST))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        message = f"expected a request body in JSON: {err}"
        raise CassetteError(message, place=Place(str(file))) from err
