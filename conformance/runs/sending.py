"""Sends one request after another to a target: paced, again where it says `not now`, counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.core.errors import RemoteError
from conformance.core.events import Exchange, Request
from conformance.runs.pace import RequestPace, asks_to_wait
from conformance.targets.gateway import UpstreamCall, UpstreamStandIn
from conformance.targets.model_calls import TurnSigns
from conformance.targets.played_answers import ScriptedUpstream, UpstreamSource
from conformance.targets.server import FetchedAnswer, NoAnswerError, TurnTarget
from conformance.wire.received import MOST_RECORDED


class TokenCount(Struct):
    """The cost of a run so far, in tokens as the target counted them."""

    input: int = 0
    output: int = 0

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        for name in ("input", "output"):
            count = usage.get(name)
            if isinstance(count, int):
                setattr(self, name, getattr(self, name) + count)


class TargetReply(Struct, frozen=True):
    """One answer, or none: `silent` says why there is no response head.

    `untestable` says why the answer cannot be judged (the target had no time for us). `upstream`
    has the calls that a gateway made meanwhile, None if the target is not a gateway.
    """

    fetched: FetchedAnswer
    untestable: str = ""
    silent: str = ""
    upstream: tuple[UpstreamCall, ...] | None = None


class RequestSender(Struct):
    """Sends requests. `secrets` are headers with credentials, by dialect.

    With `upstream` the target is a gateway, and the toolkit plays its upstream; requests must come
    one at a time then.
    """

    server: TurnTarget
    pace: RequestPace
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tokens: TokenCount = field(default_factory=TokenCount)
    upstream: UpstreamStandIn | None = None
    signs: TurnSigns = field(default_factory=TurnSigns)  # how calls of a turn look

    async def send(
        self,
        request: Request,
        dialect: str,
        source: UpstreamSource | None = None,
        most_bytes: int = MOST_RECORDED,
        *,
        stops: bool = False,
        question: str = "",
    ) -> TargetReply:
        """Sends one request, again after a refusal for the moment. Raises RequestsSpentError.

        `source` answers a gateway upstream; by default a script that just answers. `most_bytes` is
        what the answer may take of a recording. `stops`: the user hangs up once the model
        upstream and the answer have fallen silent. `question` is what the user says in it.
        """
        if self.upstream is None:
            return await self._send_patiently(request, dialect, most_bytes)
        signs = replace(self.signs, question=question)
        self.upstream.begin_request(source or ScriptedUpstream(), signs)
        reply = await self._send_patiently(request, dialect, most_bytes, stops=stops)
        if stops:
            self.upstream.release()
            await self.upstream.settled()
        calls = tuple(self.upstream.calls)
        misfit = next((each.misfit for each in calls if each.misfit), "")
        return replace(reply, upstream=calls, untestable=misfit or reply.untestable)

    async def _send_patiently(
        self, request: Request, dialect: str, most_bytes: int, *, stops: bool = False
    ) -> TargetReply:
        attempt = 0
        hanging = self.upstream.hanging if stops and self.upstream else None
        while True:
            await self.pace.wait_turn()
            try:
                secrets = self.secrets.get(dialect)
                fetched = await self.server.fetch(request, secrets, most_bytes, stops=hanging)
            except NoAnswerError as err:
                exchange = Exchange(request=request, end=err.end)
                return TargetReply(
                    FetchedAnswer(exchange, CassetteClock(), str(err)), silent=str(err)
                )
            response = fetched.exchange.response
            if not await self.pace.wait_after_refusal(response, attempt):
                break
            attempt += 1
        if asks_to_wait(response):
            status = response.status if response else 0
            why = f"HTTP {status}, also after {attempt + 1} requests"
            return TargetReply(fetched, untestable=why)
        return TargetReply(fetched)

    async def require_reply(self, request: Request, dialect: str) -> TargetReply:
        """As `send`. Raises RemoteError if there is no answer."""
        reply = await self.send(request, dialect)
        if reply.silent:
            raise RemoteError(reply.silent)
        return reply
