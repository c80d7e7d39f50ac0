"""A live server as a target: one request out, whatever comes back kept, within limits.

A server is hostile until proven otherwise. Rule 1: every fetch ends, within a time, a silence and
a number of bytes. Rule 2: what came before the end is kept, chunk by chunk, with its clock.
Rule 3: credentials go to the host that was named and to no other; a redirect elsewhere is an
answer, not an order. Rule 4: without a response head there is no answer: NoAnswerError.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from functools import partial
from time import monotonic
from typing import Final, Protocol, Self

import httpx
from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.core.content_coding import ContentDecoder, UndecodableError
from conformance.core.errors import RemoteError, UsageError
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.dialects import asks_for_stream, base_path
from conformance.report.printable import visible
from conformance.targets.aws_signing import AwsSigner
from conformance.targets.head_bound import HeadBound
from conformance.targets.left_open import STAYED_OPEN, OpenAnswers
from conformance.targets.silence import SilenceWatch, silence_watched
from conformance.wire.environment_proxy import environment_proxy
from conformance.wire.faults import (
    BrokenExchange,
    ExchangeLimits,
    describe_network_error,
    network_hint,
    root_cause,
)
from conformance.wire.heads import Headers, decode_headers, lower_names
from conformance.wire.origin import Origin
from conformance.wire.received import MOST_RECORDED, ReceivedBody
from conformance.wire.tls_end import CUT, was_closed_in_order

MOST_REDIRECTS: Final = 3
_HEADERS: Final = "conformance.headers"  # an extension of a response
_DECODED: Final = {"content-encoding": "x-decoded-from"}
_KEEPING: Final = frozenset({307, 308})  # redirects that keep method and body


class FetchedAnswer(Struct, frozen=True):
    """The answer to one request. `fault` says why it ended otherwise than by itself; else empty.

    `recorded_size` is what the body takes of a recording, in bytes. `is_anew`: it was asked in a
    conversation of its own, though it was to continue another one.
    """

    exchange: Exchange
    clock: CassetteClock
    fault: str = ""
    recorded_size: int = 0
    is_anew: bool = False


class NoAnswerError(RemoteError):
    """No response head came; `end` says how it ended instead."""

    def __init__(self, message: str, end: Ending, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.end = end


class TurnTarget(Protocol):
    """A target that takes one turn at a time: a server, an application, an agent."""

    async def fetch(
        self,
        request: Request,
        secrets: Mapping[str, str] | None = None,
        most_bytes: int = MOST_RECORDED,
        *,
        stops: asyncio.Event | None = None,
    ) -> FetchedAnswer:
        """As `LiveServer.fetch`."""


class LiveServer:
    """A base URL with its limits and headers; an asynchronous context manager.

    `secrets` are headers that carry credentials: sent, but not part of the recorded request.
    `signer` signs what is sent. `protocol` is the dialect of an application; default: by path.
    `trusted` says who may vouch for the server; default: the authorities of this machine.
    Raises UsageError for what is no URL of a server.
    """

    def __init__(
        self,
        url: str,
        *,
        limits: ExchangeLimits | None = None,
        headers: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        trusted: ssl.SSLContext | None = None,
        signer: AwsSigner | None = None,
        protocol: str | None = None,
    ) -> None:
        self._signer = signer
        self.open_answers = OpenAnswers(protocol)
        self.url = _base_url(url)
        self._proxy = None if transport else environment_proxy(str(self.url))
        self.limits = limits or ExchangeLimits()
        self._headers = dict(headers or {})
        self._secrets = dict(secrets or {})
        try:
            self._client = httpx.AsyncClient(
                transport=transport,
                verify=trusted or True,
                # One connection per request: what an idle one died of would be blamed on the next.
                limits=httpx.Limits(max_keepalive_connections=0),
                follow_redirects=False,
                event_hooks={"response": [_hide_location]},
                headers={"accept-encoding": "identity", "user-agent": "reasoning-conformance"},
            )
        except (ImportError, ValueError) as err:
            hint = "unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name an http proxy there"
            raise UsageError(f"the environment's proxy cannot be used: {err}", hint=hint) from err

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def fetch(
        self,
        request: Request,
        secrets: Mapping[str, str] | None = None,
        most_bytes: int = MOST_RECORDED,
        *,
        stops: asyncio.Event | None = None,
    ) -> FetchedAnswer:
        """Sends a request whose path is below the base URL, and takes the answer.

        `most_bytes` is what the body may take of a recording. `stops`: we hang up, as a user does,
        once this has happened and the body has been silent for a moment.
        Raises NoAnswerError where no response head came.
        """
        sent = self._signed_request(self._request_to_send(request, secrets or {}))
        headers = lower_names(tuple(sent.headers.items()))
        recorded = replace(request, path=sent.url.raw_path.decode(), headers=headers)
        begun = monotonic()
        response = await self._receive_head(sent)
        head = _elapsed_ms(begun)
        head_sent = _response_head(response)
        # An application at its own URL streams, whatever the request wants.
        streams = not request.path or asks_for_stream(request.path, request.json)
        waits = partial(silence_watched, self.limits, begun, streams=streams, stops=stops)
        try:
            taken = await self._take_answer(response, (recorded, head_sent), waits, most_bytes)
        finally:
            await response.aclose()
        if stops and stops.is_set() and taken.end == "idle-timeout":
            taken = replace(taken, end="client-closed", fault="")
        exchange = Exchange(
            request=recorded, response=head_sent, chunks=taken.chunks, end=taken.end
        )
        clock = CassetteClock(head=head, end=taken.silence, begun=begun * 1000)
        return FetchedAnswer(exchange, clock, taken.fault, taken.recorded_size)

    async def _take_answer(
        self,
        response: httpx.Response,
        answer: tuple[Request, Response],
        waits: Callable[..., AbstractAsyncContextManager[SilenceWatch]],
        most_bytes: int,
    ) -> _TakenBody:
        chunks: list[Chunk] = []
        said_end = partial(self.open_answers.has_said_end, *answer, chunks)
        waits = partial(waits, has_said_end=said_end, grace=self.open_answers.grace)
        pieces = _decoded_pieces(response, self.limits, waits)
        taken = await _take_body(pieces, ReceivedBody(most_bytes), chunks)
        if taken.fault == STAYED_OPEN:
            self.open_answers.note_one()
        return taken

    def _request_to_send(self, request: Request, secrets: Mapping[str, str]) -> httpx.Request:
        url = self.url.copy_with(raw_path=_joined_path(self.url, request.path))
        headers = {**self._headers, **dict(request.headers)}
        content = None if request.json is None else json.dumps(request.json, ensure_ascii=False)
        if content is not None:
            headers.setdefault("content-type", "application/json")
        try:
            return self._client.build_request(
                request.method,
                url,
                headers={**headers, **self._secrets, **secrets},
                content=None if content is None else content.encode("utf-8", "surrogatepass"),
                timeout=httpx.Timeout(
                    None,
                    connect=self.limits.connect,
                    read=self.limits.idle if asks_for_stream(request.path, request.json) else None,
                ),
            )
        except (ValueError, TypeError) as err:
            raise UsageError(f"no request can be made of it: {err}") from err

    def _signed_request(self, sent: httpx.Request) -> httpx.Request:
        if self._signer is not None:
            signed = (sent.method, str(sent.url), sent.headers, sent.content)
            sent.headers.update(self._signer.signed_headers(*signed))
        return sent

    async def _receive_head(self, sent: httpx.Request) -> httpx.Response:
        """The response, its body unread. Raises NoAnswerError."""
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + self.limits.timeout):
                return await self._final_response(sent)
        except (TimeoutError, httpx.ReadTimeout) as err:
            hint = "see --timeout and --idle-timeout"
            waited = self.limits.idle if isinstance(err, httpx.ReadTimeout) else self.limits.timeout
            message = f"{self.url.host} sent no response head within {waited:g} s"
            raise NoAnswerError(message, "idle-timeout", hint=hint) from err
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as err:
            raise self._no_answer(err) from err

    def _no_answer(self, error: Exception) -> NoAnswerError:
        words, hint = _describe_error(error), network_hint(error)
        if self._proxy and isinstance(error, httpx.ConnectError | httpx.ProxyError):
            words, hint = self._proxy.explain(words), hint or self._proxy.hint
        message = visible(f"{self.url.netloc.decode()}: {words}")
        return NoAnswerError(message, _broken_by(error).end, hint=hint)

    async def _final_response(self, sent: httpx.Request) -> httpx.Response:
        for _ in range(MOST_REDIRECTS):
            bound = HeadBound()
            sent.extensions = {**sent.extensions, "trace": bound.watch}
            response = await self._client.send(sent, stream=True)
            bound.is_over = True
            response.headers = response.extensions.pop(_HEADERS)
            onward = _redirect_target(response)
            if onward is None:
                return response
            await response.aclose()
            sent = self._client.build_request(
                sent.method,
                onward,
                headers=sent.headers,
                content=sent.content,
                extensions=sent.extensions,
            )
        raise NoAnswerError(f"{self.url.host}: more than {MOST_REDIRECTS} redirects", "eof")


class _TakenBody(Struct, frozen=True):
    """A body as it came; `silence` is how long nothing came before its end, in ms."""

    chunks: tuple[Chunk, ...]
    end: Ending
    fault: str
    silence: float
    recorded_size: int


async def _take_body(
    pieces: AsyncGenerator[bytes, None], received: ReceivedBody, chunks: list[Chunk]
) -> _TakenBody:
    """All that comes; it is in `chunks` as soon as it has come."""
    last = monotonic()
    end: Ending = "eof"
    fault = ""
    try:
        async with aclosing(pieces):
            async for data in pieces:
                now = monotonic()
                taken, broken = received.take(data)
                if taken:
                    chunks.append(Chunk(taken, round((now - last) * 1000, 3)))
                    last = now
                if broken:
                    raise broken
    except BrokenExchange as broken:
        end, fault = broken.end, str(broken)
    return _TakenBody(tuple(chunks), end, fault, _elapsed_ms(last), received.recorded_size)


async def _decoded_pieces(
    response: httpx.Response,
    limits: ExchangeLimits,
    waits: Callable[[], AbstractAsyncContextManager[SilenceWatch]],
) -> AsyncGenerator[bytes, None]:
    """The body as it arrives, without compression; `waits` ends it. Raises BrokenExchange."""
    watch: SilenceWatch | None = None
    decoder = ContentDecoder(response.headers.get("content-encoding", ""), limits.max_bytes)
    pieces = response.aiter_raw()
    try:
        async with waits() as watch:
            while True:
                watch.begin_wait()
                raw = await anext(pieces, None)
                if raw is None:
                    _expect_orderly_end(response)
                    return
                if data := decoder.feed(raw):
                    yield data
                if decoder.is_full:
                    raise limits.too_much()
                if monotonic() - watch.begun > limits.timeout:
                    raise limits.too_slow()
    except UndecodableError as err:
        raise BrokenExchange("protocol-error", str(err)) from err
    except (TimeoutError, httpx.ReadTimeout) as err:
        if watch is not None and watch.is_over:
            raise BrokenExchange("idle-timeout", STAYED_OPEN) from err
        raise limits.fell_silent(watch.begun if watch else monotonic()) from err
    except (httpx.HTTPError, httpx.StreamError, OSError) as err:
        raise _broken_by(err) from err


def _expect_orderly_end(response: httpx.Response) -> None:
    """Raises BrokenExchange where the body ended with a connection that was cut."""
    if "content-length" in response.headers or "transfer-encoding" in response.headers:
        return
    network = response.extensions.get("network_stream")
    if not was_closed_in_order(network and network.get_extra_info("ssl_object")):
        raise BrokenExchange("protocol-error", CUT)


def _base_url(text: str) -> httpx.URL:
    Origin.parse(text)  # says what is wrong, without a password
    try:
        return httpx.URL(text)
    except httpx.InvalidURL as err:
        raise UsageError(f"{text!r} is no URL: {err}") from err


def _joined_path(base: httpx.URL, path: str) -> bytes:
    # An API has its usual place; who has it elsewhere says so in the URL. No path: that is all.
    above = base.path.rstrip("/") or base_path(path)
    below = (f"{above}/{path.lstrip('/')}" if path else base.path).encode()
    return below + (b"?&"[b"?" in below :][:1] + base.query if base.query else b"")


async def _hide_location(response: httpx.Response) -> None:
    """Keeps httpx from parsing it, which fails for the whole answer where it is no URL."""
    response.extensions[_HEADERS] = response.headers
    response.headers = httpx.Headers()


def _redirect_target(response: httpx.Response) -> httpx.URL | None:
    """Where a redirect leads, if it keeps the request and stays with the host; else None."""
    location = response.headers.get("location", "")
    if response.status_code not in _KEEPING or not location:
        return None
    try:
        url = response.request.url.join(location)
    except (httpx.InvalidURL, ValueError):
        return None
    here = response.request.url
    same = (url.scheme, url.host, url.port) == (here.scheme, here.host, here.port)
    return url if same and not url.userinfo else None


def _response_head(response: httpx.Response) -> Response:
    # The body is kept decoded: a recorded encoding would be a lie.
    headers: Headers = tuple(
        (_DECODED.get(name, name), value)
        for name, value in lower_names(decode_headers(response.headers.raw))
    )
    return Response(response.status_code, response.http_version.removeprefix("HTTP/"), headers)


def _elapsed_ms(begun: float) -> float:
    return round((monotonic() - begun) * 1000, 3)


def _broken_by(error: Exception) -> BrokenExchange:
    """Return what an error while reading a body means for the stream."""
    # h11 reports broken framing and a close before the last chunk alike.
    end: Ending = "protocol-error" if isinstance(error, httpx.RemoteProtocolError) else "reset"
    return BrokenExchange(end, _describe_error(error))


def _describe_error(error: Exception) -> str:
    text = describe_network_error(error)
    is_connecting = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
    if not is_connecting or isinstance(root_cause(error), ssl.SSLError):
        return text
    return f"cannot connect: {text if str(error) else 'timed out'}"
