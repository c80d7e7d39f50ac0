"""What a client did, request by request, without its secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from conformance.cassette.redact import ALLOWED_HEADERS, REDACTED
from conformance.core.events import Request
from conformance.targets.replay.tape import ExchangeAddress
from conformance.wire.heads import lower_names
from conformance.wire.requests import json_or_none

ReplayOutcome = Literal[
    "complete", "cut", "stalled", "client-closed", "server-closed", "refused", "rejected"
]
_SHOWN: Final = ALLOWED_HEADERS | {"host"}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request and what became of it.

    `number` counts requests, `connection` connections, `turn` the requests of one connection, all
    from 1. `name` and `session` are those of its prefix; `path` is what was asked below it, with
    its query. `exchange` is what answered (None: nothing did, `why` says why not), `times` how
    often it has answered in this session. `sent` and `size` are bytes of body: written, and of the
    whole body. `ms` runs from the request to the end. `body` is the request's, as it
    came, empty where the bound on kept bodies left it out.

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
        return Request(self.method, self.path, self.headers, json_or_none(self.body))


def shown_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The headers, with values only where they hold no secret."""
    lower = lower_names(headers)
    return tuple((name, value if name in _SHOWN else REDACTED) for name, value in lower)
