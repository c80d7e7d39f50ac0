"""The state that all connections of a replay server share: recordings, bounds, requests."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from msgspec import Struct

from conformance.cassette import Redactor
from conformance.cassette.redaction.redact import ALLOWED_HEADERS, REDACTED
from conformance.core.events import UPGRADED, Request
from conformance.targets.model_lookups import model_lookup
from conformance.targets.replay.matching import (
    ExchangeIndex,
    ReplayMatch,
    ReplaySession,
    RequestKey,
)
from conformance.targets.replay.miss import ReplayMiss, explain_miss, explain_socket_miss
from conformance.targets.replay.options import ReplayLimits
from conformance.targets.replay.routing import MountTable
from conformance.targets.replay.tape import ExchangeAddress
from conformance.wire.heads import lower_names
from conformance.wire.hosts import AllowedHosts
from conformance.wire.requests import HttpRequest, RequestRejected, with_body
from conformance.wire.server import BodyBudget
from conformance.wire.upgrade import asks_upgrade

ReplayOutcome = Literal[
    "complete", "cut", "stalled", "client-closed", "server-closed", "refused", "rejected"
]
_SHOWN: Final = ALLOWED_HEADERS | {"host"}


class ServedRequest(Struct, frozen=True):
    """One request and what became of it.

    `number` counts requests, `connection` connections, `turn` the requests of one connection, all
    from 1. `name` and `session` are those of its prefix; `path` is the rest of the requested
    path, with its query. `exchange` is what answered (None: nothing did, `why` says why not),
    `times` how often it has answered in this session. `sent` and `size` are bytes of body:
    written, and of the whole body. `ms` runs from the request to the end. `body` is the
    request's, as it came, empty where the bound on kept bodies left it out.

    How it ended: `complete` as recorded; `cut` where the recording or an option broke it off;
    `stalled` in our silence, whoever left it; `client-closed` early, by the client;
    `server-closed` when the server was stopped; `refused` for want of a recorded answer;
    `rejected` for bytes that are no request.
    """

    number: int
    connection: int
    turn: int
    method: str
    name: str
    session: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    exchange: ExchangeAddress | None
    times: int
    status: int
    sent: int
    size: int
    outcome: ReplayOutcome
    why: str
    ms: float

    @property
    def request(self) -> Request:
        """The request as a recording would hold it."""
        return with_body(Request(self.method, self.path, self.headers), self.body)


def _shown_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The headers, with values only where they hold no secret."""
    lower = lower_names(headers)
    return tuple((name, value if name in _SHOWN else REDACTED) for name, value in lower)


def _looked_up(wanted: RequestKey, index: ExchangeIndex) -> ReplayMiss:
    """A miss, with what is stated of a model where clients look it up before they ask."""
    lookup = model_lookup(wanted.method, wanted.path, "m") if index.options.own_form else None
    return ReplayMiss("", lookup=lookup) if lookup else explain_miss(wanted, index)


class OpenConnection(Protocol):
    """A connection, as the state uses it."""

    number: int
    turns: int

    def close(self) -> None: ...


class SocketChoice(NamedTuple):
    """The WebSockets that an upgrade may lead to, by the numbers of their entries."""

    replay: ReplaySession
    numbers: Sequence[int]


class AnsweredRequest(Struct):
    """A request, where it led, what answers it, and when it came.

    `path` is what was asked below the prefix of `name` and `session`; `began` is monotonic time in
    seconds, 0 for what never became a request. `sockets` is None except for an upgrade: then
    `found` is its answer once that is chosen.
    """

    request: HttpRequest
    name: str
    session: str
    path: str
    found: ReplayMatch | ReplayMiss
    status: int
    began: float
    sockets: SocketChoice | None = None
    is_noted: bool = False


def rejected_request(reason: RequestRejected) -> AnsweredRequest:
    nothing = HttpRequest("", "", (), b"")
    return AnsweredRequest(nothing, "", "", "", ReplayMiss(reason.why), reason.status, 0.0)


class ServerState:
    """`idle` is set while no answer is under way, `empty` while no connection is open.

    `log` holds the latest requests, `requests` counts all of them.
    """

    def __init__(
        self,
        limits: ReplayLimits,
        on_exchange: Callable[[ServedRequest], None] | None,
        hosts: AllowedHosts | None = None,
    ) -> None:
        self.limits = limits
        self.body_budget = BodyBudget(limits.requests)
        self.hosts = hosts
        self.routes = MountTable()
        self.log: deque[ServedRequest] = deque(maxlen=limits.seen)
        self.requests = 0
        self.connections = 0
        self.open: set[OpenConnection] = set()
        self.idle = asyncio.Event()
        self.idle.set()
        self.empty = asyncio.Event()
        self.empty.set()
        self._on_exchange = on_exchange
        self._log_room = limits.kept
        self._active = 0

    def add_connection(self, connection: OpenConnection) -> int:
        """Its number from 1, or 0 if there are too many."""
        self.open.add(connection)
        self.empty.clear()
        self.connections += 1
        return self.connections if len(self.open) <= self.limits.connections else 0

    def remove_connection(self, connection: OpenConnection) -> None:
        self.open.discard(connection)
        if not self.open:
            self.empty.set()

    def hand_over(self, connection: OpenConnection, heir: OpenConnection) -> None:
        """The same connection, and another one minds it."""
        self.open.discard(connection)
        self.open.add(heir)

    def find_answer(self, request: HttpRequest) -> AnsweredRequest:
        self._active += 1
        self.idle.clear()
        began = time.monotonic()
        route = self.routes.route_request(request.target)
        if isinstance(route, ReplayMiss):
            return AnsweredRequest(request, "", "", request.target, route, 404, began)
        name, session, path, replay = route
        wanted = replay.index.request_key(request, path)
        if asks_upgrade(request):
            sockets = SocketChoice(replay, replay.free_sockets(wanted))
            miss = explain_socket_miss(wanted, replay.index)
            status = UPGRADED if sockets.numbers else miss.status
            return AnsweredRequest(request, name, session, path, miss, status, began, sockets)
        found = replay.next_match(wanted) or _looked_up(wanted, replay.index)
        status = found.script.status if isinstance(found, ReplayMatch) else found.status
        return AnsweredRequest(request, name, session, path, found, status, began)

    def note_outcome(
        self,
        answered: AnsweredRequest,
        connection: OpenConnection,
        outcome: ReplayOutcome,
        sent: int,
    ) -> None:
        """The request is over; `sent` counts bytes of the answer's body."""
        seen = self._served_request(answered, connection, outcome, sent)
        self._active -= bool(answered.began)
        if len(self.log) == self.log.maxlen:
            self._log_room += len(self.log[0].body)
        self.log.append(seen)
        self.requests += 1
        try:
            if self._on_exchange is not None:
                self._on_exchange(seen)
        finally:  # the callback is the caller's, and may fail
            if not self._active:
                self.idle.set()

    def _served_request(
        self,
        answered: AnsweredRequest,
        connection: OpenConnection,
        outcome: ReplayOutcome,
        sent: int,
    ) -> ServedRequest:
        request, found, path = answered.request, answered.found, answered.path
        match = found if isinstance(found, ReplayMatch) else None
        body = request.body if len(request.body) <= self._log_room else b""
        self._log_room -= len(body)
        return ServedRequest(
            number=self.requests + 1,
            connection=connection.number,
            turn=connection.turns,
            method=request.method,
            name=answered.name,
            session=answered.session,
            path=Redactor().path(path) if "?" in path else path,
            headers=_shown_headers(request.headers),
            body=body,
            exchange=match.entry.address if match else None,
            times=match.times if match else 0,
            status=answered.status,
            sent=sent,
            size=match.script.whole if match else 0,
            outcome=outcome,
            why=found.why if isinstance(found, ReplayMiss) else "",
            ms=(time.monotonic() - answered.began) * 1000 if answered.began else 0.0,
        )
