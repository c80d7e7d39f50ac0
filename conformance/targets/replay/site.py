"""What all connections of a replay server share: recordings, bounds, and the log."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from conformance.cassette import Redactor
from conformance.targets.replay.matching import Match
from conformance.targets.replay.miss import Miss, explain
from conformance.targets.replay.options import Limits
from conformance.targets.replay.routing import Route, Routes
from conformance.targets.replay.seen import Log, Outcome, Seen, shown_headers
from conformance.targets.replay.turn import Turn
from conformance.wire.requests import HttpRequest

if TYPE_CHECKING:
    from conformance.targets.replay.connection import Connection


class Site:
    """`idle` is set while no answer is under way, `empty` while no connection is open."""

    def __init__(self, limits: Limits, log: Log, routes: Routes) -> None:
        self.limits = limits
        self.connections = 0
        self.open: set[Connection] = set()
        self.idle = asyncio.Event()
        self.idle.set()
        self.empty = asyncio.Event()
        self.empty.set()
        self._log = log
        self._routes = routes
        self._held = 0
        self._active = 0

    def opened(self, connection: Connection) -> int:
        """A new connection: its number from 1, or 0 if there are too many."""
        self.open.add(connection)
        self.empty.clear()
        self.connections += 1
        return self.connections if len(self.open) <= self.limits.connections else 0

    def lost(self, connection: Connection) -> None:
        """The connection is no more."""
        self.open.discard(connection)
        if not self.open:
            self.empty.set()

    def reserve(self, size: int) -> bool:
        """Whether there is room for so many more bytes of requests; negative gives back."""
        if self._held + size > self.limits.requests:
            return False
        self._held += size
        return True

    def turn(self, asked: HttpRequest) -> Turn:
        """The request, and what answers it."""
        self._active += 1
        self.idle.clear()
        began = time.monotonic()
        route = self._routes.route(asked.target)
        if isinstance(route, Miss):
            return Turn(asked, "", "", asked.target, route, 404, began)
        found = self._found(asked, route)
        status = found.script.status if isinstance(found, Match) else 404
        return Turn(asked, route.name, route.session, route.rest, found, status, began)

    def note(self, turn: Turn, connection: Connection, outcome: Outcome, sent: int) -> None:
        """The turn is over."""
        seen = self._seen(turn, connection, outcome, sent)
        if turn.began:
            self._active -= 1
        try:
            self._log.add(seen)
        finally:  # the callback is the caller's, and may fail
            if not self._active:
                self.idle.set()

    def _found(self, asked: HttpRequest, route: Route) -> Match | Miss:
        index = route.shelf.index
        wanted = index.wanted(asked, route.rest)
        return route.shelf.take(wanted) or explain(wanted, index)

    def _seen(self, turn: Turn, connection: Connection, outcome: Outcome, sent: int) -> Seen:
        asked, found = turn.asked, turn.found
        match = found if isinstance(found, Match) else None
        return Seen(
            number=self._log.count + 1,
            connection=connection.number,
            turn=connection.turns,
            method=asked.method,
            name=turn.name,
            session=turn.session,
            path=Redactor().path(turn.path) if "?" in turn.path else turn.path,
            headers=shown_headers(asked.headers),
            body=asked.body if self._log.room(len(asked.body)) else b"",
            exchange=match.entry.address if match else None,
            times=match.times if match else 0,
            status=turn.status,
            sent=sent,
            size=match.script.whole if match else 0,
            outcome=outcome,
            why="" if isinstance(found, Match) else found.why,
            ms=(time.monotonic() - turn.began) * 1000 if turn.began else 0.0,
        )
