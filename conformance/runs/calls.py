"""One request after another to a target: paced, asked again where it says `not now`, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.cassette import Clock
from conformance.core.errors import RemoteError
from conformance.core.events import Exchange, Request
from conformance.runs.pace import Pace, is_refusal
from conformance.targets.gateway import Heard, Scripts, Upstream
from conformance.targets.gateway.scripts import Speaker
from conformance.targets.server import Fetched, NoAnswerError, Server


@dataclass(slots=True)
class Spent:
    """What a run cost so far: requests sent, and tokens as the target counted them."""

    input: int = 0
    output: int = 0

    def add(self, usage: Mapping[str, Any]) -> None:
        for name in ("input", "output"):
            count = usage.get(name)
            if isinstance(count, int):
                setattr(self, name, getattr(self, name) + count)


@dataclass(frozen=True, slots=True)
class Called:
    """One answer, or none: `silent` says why there is no response head.

    `untestable` says why the answer cannot be judged (the target had no time for us).
    """

    fetched: Fetched
    untestable: str = ""
    silent: str = ""
    behind: tuple[Heard, ...] | None = None  # what a gateway asked upstream meanwhile


@dataclass(slots=True)
class Calls:
    """Sends requests. `secrets` are headers with credentials, by dialect.

    With `upstream` the target is a gateway, and the toolkit plays what stands behind it; requests
    must come one at a time then.
    """

    server: Server
    pace: Pace
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    upstream: Upstream | None = None

    async def ask(self, request: Request, dialect: str, behind: Speaker | None = None) -> Called:
        """Sends one request, again after a refusal for the moment. Raises SpentError.

        `behind` is who answers a gateway upstream; by default a script that just answers.
        """
        if self.upstream is None:
            return await self._ask(request, dialect)
        self.upstream.begin(behind or Scripts())
        called = await self._ask(request, dialect)
        heard = self.upstream.taken()
        misfit = next((each.misfit for each in heard if each.misfit), "")
        return replace(called, behind=heard, untestable=misfit or called.untestable)

    async def _ask(self, request: Request, dialect: str) -> Called:
        attempt = 0
        while True:
            await self.pace.turn()
            try:
                fetched = await self.server.fetch(request, self.secrets.get(dialect))
            except NoAnswerError as err:
                exchange = Exchange(request=request, end=err.end)
                return Called(Fetched(exchange, Clock(), str(err)), silent=str(err))
            response = fetched.exchange.response
            if not await self.pace.refused(response, attempt):
                break
            attempt += 1
        if is_refusal(response):
            status = response.status if response else 0
            return Called(fetched, untestable=f"HTTP {status}, also after {attempt + 1} requests")
        return Called(fetched)

    async def must(self, request: Request, dialect: str) -> Called:
        """As `ask`. Raises RemoteError where nobody answers."""
        called = await self.ask(request, dialect)
        if called.silent:
            raise RemoteError(called.silent)
        return called
