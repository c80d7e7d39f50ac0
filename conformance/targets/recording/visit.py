"""One client of the proxy: its requests, one after the other, and their answers.

Rule 1: one connection to an upstream for each of the client's, so that reuse is the client's own.
Rule 2: what came is recorded before it is passed on, the end too. So whatever a client has seen is
in the cassette (or held back by redaction), even if the recorder is killed in that moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import msgspec

from conformance.core.errors import CassetteError
from conformance.core.events import Ending, Request
from conformance.targets.recording.client_side import Asked, ClientSide, GoneError, RefusedError
from conformance.targets.recording.framing import Piece
from conformance.targets.recording.heads import end_to_end, readable_encodings, without
from conformance.targets.recording.shelf import Running, Shelf
from conformance.targets.recording.upstream import Broken, Connection, Head, Origin

Fail = Callable[[BaseException], None]


@dataclass(frozen=True, slots=True)
class Way:
    """Where a request goes, and what it is recorded in; nowhere if `shelf` is None."""

    origin: Origin
    shelf: Shelf | None


Route = Callable[[Asked], Way]


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: to connect, and the longest silence of the upstream before and within a body."""

    connect: float = 10.0
    idle: float = 600.0


class Visit:
    """Serves one connection of a client until either side ends it."""

    def __init__(self, client: ClientSide, route: Route, patience: Patience, fail: Fail) -> None:
        self._client = client
        self._route = route
        self._patience = patience
        self._fail = fail
        self._upstreams: dict[Origin, Connection] = {}

    async def serve(self) -> None:
        """Raises nothing that the client, the upstream or the disk does."""
        try:
            while (asked := await self._client.next_request()) is not None:
                if not await self._exchange(asked):
                    break
        except RefusedError as refused:
            await self._client.refuse(refused.status, str(refused))
        except GoneError:
            pass
        finally:
            self._drop()
            await self._client.close()

    async def _exchange(self, asked: Asked) -> bool:
        """One request and its answer. Whether the connection can go on."""
        _check_target(asked)
        way = self._route(asked)
        recorded = Recorded(way.shelf, self._fail, asked, way.origin.target(asked.target))
        stays = False
        try:
            stays = await self._relay(asked, way.origin, recorded)
        except Broken as broken:
            if not self._client.gone:
                recorded.end(broken.end, str(broken))
                await self._pass_on(broken, recorded)
        finally:
            # Whoever left or was stopped in its midst ends it; an end that was recorded stands.
            recorded.end("client-closed" if self._client.gone else "open")
            await self._client.unwatch()
        return stays

    async def _connected(self, origin: Origin) -> Connection:
        known = self._upstreams.pop(origin, None)
        if known is not None and not known.reusable:
            known.abort()
            known = None
        upstream = known or await Connection.open(origin, timeout=self._patience.connect)
        self._upstreams[origin] = upstream
        return upstream

    async def _relay(self, asked: Asked, origin: Origin, recorded: Recorded) -> bool:
        upstream = await self._connected(origin)
        headers = readable_encodings(without(end_to_end(asked.headers), "host", "expect"))
        headers = (("Host", origin.netloc), *headers)
        idle = self._patience.idle
        await upstream.send(asked.method, recorded.target, headers, asked.body)
        self._client.watch(upstream.abort)
        recorded.begin()  # while the upstream thinks
        head = await upstream.head(asked.method, idle=idle)
        recorded.head(head)
        stays = self._client.answer(head, speaks_11=asked.speaks_11, keeps=asked.keeps)
        async for pieces in upstream.body(head, idle=idle):
            recorded.take(pieces)
            await self._client.send(pieces)
        if self._client.gone and not head.ends_itself:
            raise GoneError  # we closed the upstream ourselves: its end says nothing
        recorded.end("eof")
        await self._client.finish()
        return stays

    async def _pass_on(self, broken: Broken, recorded: Recorded) -> None:
        """The client learns of a broken upstream as it would have learned directly."""
        if not recorded.has_head:
            await self._client.refuse(502, str(broken), "upstream_error")
        elif broken.end == "reset":
            await self._client.reset()

    def _drop(self) -> None:
        for upstream in self._upstreams.values():
            upstream.abort()
        self._upstreams.clear()


class Recorded:
    """The recording of one exchange; where it fails, it is told once and given up."""

    def __init__(self, shelf: Shelf | None, fail: Fail, asked: Asked, target: str) -> None:
        self.target = target
        self.has_head = False
        self._shelf = shelf
        self._fail = fail
        self._asked = asked
        self._came = perf_counter()
        self._begun = False
        self._running: Running | None = None

    def begin(self) -> None:
        """Records the request, as of when it came."""
        self._begun = True
        if self._shelf is None:
            return
        asked = self._asked
        request = Request(asked.method, self.target, asked.headers, _json(asked.body))
        try:
            self._running = self._shelf.begin(request, self._came)
        except (CassetteError, OSError) as err:
            self._fail(err)

    def head(self, head: Head) -> None:
        self.has_head = True
        self._guard(lambda running: running.take.head(head.response))

    def take(self, pieces: list[Piece]) -> None:
        running = self._running
        if running is None:
            return
        try:
            running.take.take(pieces)
        except (CassetteError, OSError) as err:
            self._give_up(err)

    def end(self, how: Ending, note: str = "") -> None:
        """A second end says nothing."""
        if not self._begun:
            self.begin()
        if (shelf := self._shelf) is not None:
            self._guard(lambda running: shelf.end(running, how, note))
        self._running = None

    def _guard(self, action: Callable[[Running], object]) -> None:
        if self._running is None:
            return
        try:
            action(self._running)
        except (CassetteError, OSError) as err:
            self._give_up(err)

    def _give_up(self, error: BaseException) -> None:
        self._running = None
        self._fail(error)


def _check_target(asked: Asked) -> None:
    if not asked.target.startswith("/"):
        why = "expected a path; this proxy stands in for one server, give its URL as base URL"
        raise RefusedError(400, why)


def _json(body: bytes) -> object:
    """The body as a JSON value; None where it is none, or no reader could take it."""
    try:
        return msgspec.json.decode(body) if body else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
