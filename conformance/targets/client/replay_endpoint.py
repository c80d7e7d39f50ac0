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
from conformance.targets.client.adapter import Adapter, AdapterAnswer
from conformance.targets.client.process import AdapterBounds
from conformance.targets.client.protocol import (
    EXTRACT,
    NEXT_REQUEST,
    RESTORE,
    STORE,
    STREAM,
    ClientImplementation,
)
from conformance.targets.client.variation import ReplayVariation
from conformance.targets.replay import ReplayOptions, SeenRequest, ThreadedServer

MOST_FAULTS: Final = 5
_COUNTER = itertools.count(1)


class LoggedRequests(NamedTuple):
    """Requests, and how many seconds after the end of the one before each of them began."""

    seen: list[SeenRequest]
    waits: list[float]


@dataclass(slots=True)
class RequestLog:
    """What the replay server saw, by the name of the case, and when each request had its end."""

    seen: dict[str, list[tuple[SeenRequest, float]]] = field(default_factory=dict)

    def note_request(self, seen: SeenRequest) -> None:
        """Called by the server, in its thread."""
        self.seen.setdefault(seen.name, []).append((seen, time.monotonic()))

    def take_requests(self, name: str) -> LoggedRequests:
        noted = self.seen.pop(name, [])
        ends = [0.0, *(end for _, end in noted)]
        waits = [end - seen.ms / 1000 - ends[n] for n, (seen, end) in enumerate(noted)]
        return LoggedRequests([seen for seen, _ in noted], waits)


class ReplayEndpoint:
    """Puts cases to an adapter; a context manager that ends it."""

    def __init__(
        self,
        command: str | Sequence[str],
        server: ThreadedServer,
        log: RequestLog,
        *,
        deadline: float,
        bounds: AdapterBounds | None = None,
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
    def about(self) -> ClientImplementation:
        return self._adapter.implementation

    def replay_stream(
        self, variation: ReplayVariation, dialect: str, said: Mapping[str, Any]
    ) -> tuple[AdapterAnswer, list[SeenRequest], str]:
        """Replays an answer to the client: what it told, what it asked for, and the case's seq."""
        answered, resumed, seq = self._replay_answers(
            [variation.exchange], variation.options, dialect, said
        )
        return answered, resumed.seen, seq

    def replay_in_turn(
        self, answers: Sequence[Exchange], dialect: str, said: Mapping[str, Any]
    ) -> tuple[AdapterAnswer, LoggedRequests]:
        """One answer after the other to the requests of one case, each once."""
        answered, resumed, _ = self._replay_answers(answers, ReplayOptions(), dialect, said)
        return answered, resumed

    def _replay_answers(
        self,
        answers: Sequence[Exchange],
        options: ReplayOptions,
        dialect: str,
        said: Mapping[str, Any],
    ) -> tuple[AdapterAnswer, LoggedRequests, str]:
        seq = str(next(_COUNTER))
        # Any request of this dialect is answered: a client writes its own.
        served = (replace(each, request=None, hop="", dialect=dialect) for each in answers)
        cassette = Cassette(Header(dialect=dialect), tuple(served))
        name = self._server.mount(cassette, name=f"case-{seq}", options=options)
        try:
            answered = self._answer_to(
                {
                    "cmd": STREAM,
                    "seq": seq,
                    "dialect": dialect,
                    "base_url": self._server.base_url(name) + _base_path(dialect),
                    **said,
                    "deadline_ms": round(self._deadline * 1000),
                }
            )
            self._server.settle()
        finally:
            self._server.unmount(name)
        return answered, self._log.take_requests(name), seq

    def next_request(
        self, dialect: str, said: Mapping[str, Any], after: str = "", adds: Sequence[Any] = ()
    ) -> AdapterAnswer:
        """What the client would send now."""
        more = {"after": after, "adds": list(adds)} if after else {}
        base = {
            "dialect": dialect,
            "base_url": self._server.url + _base_path(dialect),
            **said,
            **more,
        }
        return self._answer_to({"cmd": NEXT_REQUEST, "seq": str(next(_COUNTER)), **base})

    def extract_events(self, dialect: str, message: Mapping[str, Any]) -> AdapterAnswer:
        """The events of a whole message."""
        seq = str(next(_COUNTER))
        return self._answer_to({"cmd": EXTRACT, "seq": seq, "dialect": dialect, "message": message})

    def restore_turn(self, stored: Mapping[str, Any]) -> AdapterAnswer:
        """The events of what was stored."""
        return self._answer_to({"cmd": RESTORE, "seq": str(next(_COUNTER)), "stored": stored})

    def store_message(self, message: Mapping[str, Any]) -> AdapterAnswer:
        """What the client would persist of a message."""
        return self._answer_to({"cmd": STORE, "seq": str(next(_COUNTER)), "message": message})

    def send_unknown(self) -> AdapterAnswer:
        """A command that nobody knows: the only right answer is `skipped`."""
        name = f"x-{secrets.token_hex(4)}"
        seq = str(next(_COUNTER))
        try:
            return self._adapter.ask_unknown({"cmd": name, "seq": seq}, self._deadline)
        except HarnessError as err:
            return self._restart_after(err)

    def stderr_tail(self) -> str:
        """The end of the adapter's stderr, for a message."""
        return self._adapter.stderr_tail()

    def _answer_to(self, command: Mapping[str, Any]) -> AdapterAnswer:
        try:
            return self._adapter.ask(command, self._deadline)
        except HarnessError as err:
            return self._restart_after(err)

    def _restart_after(self, err: HarnessError) -> AdapterAnswer:
        self._adapter.kill()
        self._faults += 1
        if self._faults >= MOST_FAULTS:
            raise HarnessError(
                f"given up after {self._faults} faults of the adapter: {err}"
            ) from err
        self._adapter = Adapter(self._command, self._bounds)
        return AdapterAnswer("errored", why=str(err))


def _base_path(dialect: str) -> str:
    """The path that a client of a dialect expects in its base URL."""
    return required(ENDPOINTS.get(dialect), dialect, "path").base
