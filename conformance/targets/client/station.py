"""Where cases are put to a client: one adapter, the replay server, and what came over the wire.

An adapter that hangs, crashes, floods or breaks the protocol is ended and started again; what it
did is the answer to the case. After `MOST_FAULTS` of them it is given up.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Self

from conformance.cassette import Cassette, Header
from conformance.core.errors import HarnessError
from conformance.core.events import Exchange
from conformance.dialects import ENDPOINTS, required
from conformance.targets.client.adapter import Adapter, Told
from conformance.targets.client.process import Bounds
from conformance.targets.client.protocol import (
    EXTRACT,
    NEXT_REQUEST,
    RESTORE,
    STORE,
    STREAM,
    Implementation,
)
from conformance.targets.client.variation import Variation
from conformance.targets.replay import ReplayOptions, SeenRequest, ThreadedServer

MOST_FAULTS: Final = 5
_COUNTER = itertools.count(1)


class Resumed(NamedTuple):
    """Requests, and how many seconds after the end of the one before each of them began."""

    seen: list[SeenRequest]
    waits: list[float]


@dataclass(slots=True)
class Log:
    """What the replay server saw, by the name of the case, and when each request had its end."""

    seen: dict[str, list[tuple[SeenRequest, float]]] = field(default_factory=dict)

    def note(self, seen: SeenRequest) -> None:
        """Called by the server, in its thread."""
        self.seen.setdefault(seen.name, []).append((seen, time.monotonic()))

    def take(self, name: str) -> Resumed:
        noted = self.seen.pop(name, [])
        ends = [0.0, *(end for _, end in noted)]
        waits = [end - seen.ms / 1000 - ends[n] for n, (seen, end) in enumerate(noted)]
        return Resumed([seen for seen, _ in noted], waits)


class Station:
    """Puts cases to an adapter; a context manager that ends it."""

    def __init__(
        self,
        command: str | Sequence[str],
        server: ThreadedServer,
        log: Log,
        *,
        deadline: float,
        bounds: Bounds | None = None,
    ) -> None:
        self._command = command
        self._server = server
        self._log = log
        self._deadline = deadline
        self._bounds = bounds
        self._faults = 0
        self._adapter = Adapter(command, bounds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._adapter.stop()
        else:
            self._adapter.kill()

    @property
    def about(self) -> Implementation:
        return self._adapter.implementation

    def stream(
        self, variation: Variation, dialect: str, said: Mapping[str, Any]
    ) -> tuple[Told, list[SeenRequest], str]:
        """Replays an answer to the client: what it told, what it asked for, and the case's seq."""
        told, resumed, seq = self._put([variation.exchange], variation.options, dialect, said)
        return told, resumed.seen, seq

    def resumed(
        self, answers: Sequence[Exchange], dialect: str, said: Mapping[str, Any]
    ) -> tuple[Told, Resumed]:
        """One answer after the other to the requests of one case, each once."""
        told, resumed, _ = self._put(answers, ReplayOptions(), dialect, said)
        return told, resumed

    def _put(
        self,
        answers: Sequence[Exchange],
        options: ReplayOptions,
        dialect: str,
        said: Mapping[str, Any],
    ) -> tuple[Told, Resumed, str]:
        seq = str(next(_COUNTER))
        # Any request of this dialect is answered: a client writes its own.
        served = (replace(each, request=None, hop="", dialect=dialect) for each in answers)
        cassette = Cassette(Header(dialect=dialect), tuple(served))
        name = self._server.mount(cassette, name=f"case-{seq}", options=options)
        try:
            told = self._ask(
                {
                    "cmd": STREAM,
                    "seq": seq,
                    "dialect": dialect,
                    "base_url": self._server.base_url(name) + _base(dialect),
                    **said,
                    "deadline_ms": round(self._deadline * 1000),
                }
            )
            self._server.settle()
        finally:
            self._server.unmount(name)
        return told, self._log.take(name), seq

    def next_request(
        self, dialect: str, said: Mapping[str, Any], after: str = "", adds: Sequence[Any] = ()
    ) -> Told:
        """What the client would send now."""
        more = {"after": after, "adds": list(adds)} if after else {}
        base = {"dialect": dialect, "base_url": self._server.url + _base(dialect), **said, **more}
        return self._ask({"cmd": NEXT_REQUEST, "seq": str(next(_COUNTER)), **base})

    def extract(self, dialect: str, message: Mapping[str, Any]) -> Told:
        """The events of a whole message."""
        seq = str(next(_COUNTER))
        return self._ask({"cmd": EXTRACT, "seq": seq, "dialect": dialect, "message": message})

    def restore(self, stored: Mapping[str, Any]) -> Told:
        """The events of what was stored."""
        return self._ask({"cmd": RESTORE, "seq": str(next(_COUNTER)), "stored": stored})

    def store(self, message: Mapping[str, Any]) -> Told:
        """What the client would persist of a message."""
        return self._ask({"cmd": STORE, "seq": str(next(_COUNTER)), "message": message})

    def unknown(self) -> Told:
        """A command that nobody knows: the only right answer is `skipped`."""
        name = f"x-{secrets.token_hex(4)}"
        seq = str(next(_COUNTER))
        try:
            return self._adapter.ask_unknown({"cmd": name, "seq": seq}, self._deadline)
        except HarnessError as err:
            return self._failed(err)

    def said(self) -> str:
        """The end of the adapter's stderr, for a message."""
        return self._adapter.said()

    def _ask(self, command: Mapping[str, Any]) -> Told:
        try:
            return self._adapter.ask(command, self._deadline)
        except HarnessError as err:
            return self._failed(err)

    def _failed(self, err: HarnessError) -> Told:
        self._adapter.kill()
        self._faults += 1
        if self._faults >= MOST_FAULTS:
            raise HarnessError(
                f"given up after {self._faults} faults of the adapter: {err}"
            ) from err
        self._adapter = Adapter(self._command, self._bounds)
        return Told("errored", why=str(err))


def _base(dialect: str) -> str:
    """The path that a client of a dialect expects in its base URL."""
    return required(ENDPOINTS.get(dialect), dialect, "path").base
