"""The played server behind a gateway or an application: the requests that it gets, and when.

The gateway is the target, so its requests are hostile until proven otherwise: requests are bounded,
and whatever is no request is closed.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from math import inf
from secrets import randbelow
from time import monotonic
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.chunked import ChunkPart
from conformance.core.events import Chunk, Ending, Exchange, Response
from conformance.dialects import ENDPOINTS, dialect_at, get
from conformance.dialects.personas import Persona, persona_of
from conformance.dialects.script import MODEL
from conformance.targets.model_calls import RETRY, TURN, CallShape, TurnSigns, call_shape
from conformance.targets.model_lookups import model_lookup
from conformance.targets.played_answers import (
    ScriptedUpstream,
    UpstreamAnswer,
    UpstreamSource,
    json_answer,
    scripted_answer,
)
from conformance.targets.stray_requests import StrayRequests
from conformance.wire.heads import Headers, lower_names
from conformance.wire.hosts import parsed_origins, refuse_foreign_pages
from conformance.wire.requests import HttpRequest, RequestRejected, as_recorded, json_or_none
from conformance.wire.server import PeerGoneError, ServerConnection, listening

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_CALLS: Final = 1000  # calls of one step
MOST_TRIES: Final = 4  # answers that break off, to one request of an application's user
MOST_TRYING: Final = 20.0  # seconds from the first of them; waits that double outlast a run
_MOMENT: Final = 1.0  # seconds
_FOUR_LETTERS: Final = 36**3  # the least number of which ids have four
_NOWHERE: Final = {"error": {"message": "no such path", "type": "invalid_request_error"}}


TellRequest = Callable[[str, str, int], None]
"""Hears of a request: its method, its path, and the status of its answer."""


class UpstreamCall(Struct, frozen=True):
    """One call of the gateway, with what it was answered; its exchange has its dialect.

    `misfit` says why that was no answer to it; else it is empty. `aside`: it is none of the turn.
    `begun` is when it came, by `monotonic`; `kind` is its name among the others.
    """

    exchange: Exchange
    begun: float
    misfit: str = ""
    aside: bool = False
    kind: str = TURN


def _spoken_by(persona: Persona, path: str, body: Mapping[str, Any]) -> str | None:
    """The dialect that is spoken at a path; of two that share it, the persona's or the body's."""
    own = ENDPOINTS.get(persona.dialect)
    return persona.dialect if own is not None and own.serves(path) else dialect_at(path, body)


class UpstreamStandIn(Struct):
    """The answers to come, and the calls since `begin_request`, in the order of their answers."""

    port: int = 0
    persona: Persona | None = None  # the one that the user named
    folder: str = ""  # where tools of an agent may read
    ids_from: int = 0  # of all that the script says
    request: int = 0  # number of the one that is under way
    calls: list[UpstreamCall] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)  # what hangs ends then
    hanging: asyncio.Event = field(default_factory=asyncio.Event)  # an answer hangs
    open_calls: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)  # no call is under way
    strays: StrayRequests = field(default_factory=StrayRequests)  # of all requests that were made
    _source: UpstreamSource = field(default_factory=ScriptedUpstream)
    _number: int = 0
    _answered: int = 0
    _signs: TurnSigns = field(default_factory=TurnSigns)
    _histories: Counter[str] = field(default_factory=Counter)  # calls of the turn by their history
    _broken: int = 0  # answers to the request that is under way
    _refuses_from: float = inf  # when what would break off once more is refused
    _goes_on: bool = False  # the last answer broke off, or was cut at a limit

    def begin_request(self, source: UpstreamSource, signs: TurnSigns | None = None) -> None:
        """A request goes out to the gateway: calls that were made before belong to no request.

        `signs` are how calls of its turn look, and what the user says in it.
        """
        self.release()
        self.hanging = asyncio.Event()
        if isinstance(source, ScriptedUpstream):
            source = replace(source, folder=self.folder, ids_from=self.ids_from)
        self._source, self._answered, self.calls = source, 0, []
        self._signs, self._goes_on = signs or TurnSigns(), False
        self._broken, self._refuses_from = 0, inf
        self._histories.clear()
        self.request += 1

    def release(self) -> None:
        """Ends what hangs."""
        self.released.set()
        self.released = asyncio.Event()

    async def settled(self) -> None:
        """Waits until no call is under way, for a moment at most."""
        if self.open_calls:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.idle.wait(), _MOMENT)

    def answer_call(
        self, method: str, path: str, body: Any, headers: Headers = ()
    ) -> UpstreamAnswer:
        """Return the answer to a request: 404 where its path is unknown."""
        fields = body if isinstance(body, dict) else {}
        persona = self.persona_for(path, headers, fields)
        dialect = _spoken_by(persona, path, fields)
        if method == "POST" and dialect is not None:
            self._number, call = self._number + 1, self._answered
            form = get(dialect).request
            fields = {**ENDPOINTS[dialect].stated(path), **fields}
            fields = form.spelled(fields) if form else fields
            shape = call_shape(dialect, fields, self._signs.question)
            if not self._signs.is_of_turn(shape, goes_on=self._goes_on):
                place = (dialect, self._number, fields)
                answer = scripted_answer("answer", *place, persona=persona, ids_from=self.ids_from)
                return replace(answer, aside=True, kind=shape.name, dialect=dialect)
            self._answered += 1
            answer = self._source.answer_call(dialect, call, self._number, fields, persona)
            self._goes_on = answer.breaks_off or answer.is_short
            if answer.breaks_off and self._signs.question and self._has_tried_enough():
                answer = scripted_answer("refused", dialect, self._number, fields, persona=persona)
                answer = replace(answer, breaks_off=True)
            return replace(answer, kind=self._kind_of_turn(shape), dialect=dialect)
        found = model_lookup(method, path, MODEL)
        return json_answer(200, found) if found else json_answer(404, _NOWHERE)

    def _has_tried_enough(self) -> bool:
        """Whether the answer that breaks off now is one too many: an agent may try for minutes."""
        now = monotonic()
        self._broken += 1
        if self._broken == 1:
            self._refuses_from = now + MOST_TRYING
        return self._broken > MOST_TRIES or now > self._refuses_from

    def persona_for(self, path: str, headers: Headers, body: Mapping[str, Any]) -> Persona:
        """Whose model is played to such a request."""
        # A gateway requests the model of its own request; an application chooses one.
        chose = bool(self._signs.question)
        return self.persona or persona_of(path, headers, body, chose_model=chose)

    def _kind_of_turn(self, shape: CallShape) -> str:
        """Return the kind of a call of the turn: the same request made again is a retry."""
        again = self._histories[shape.history]
        if again or len(self._histories) < MOST_CALLS:
            self._histories[shape.history] += 1
        return f"{RETRY} {again}" if again else TURN

    def keep_call(self, call: UpstreamCall, request: int) -> None:
        """Keeps a call that was made for that request, unless another one is under way now."""
        if request == self.request and len(self.calls) < MOST_CALLS:
            self.calls.append(call)


async def _refuse_page(
    connection: ServerConnection, request: HttpRequest, allowed: frozenset[str]
) -> None:
    """Raises RequestRejected, once the page that sent it has its answer."""
    try:
        refuse_foreign_pages(request, allowed)
    except RequestRejected as refused:
        error = {"message": f"conformance: {refused}", "type": "invalid_request_error"}
        await connection.refuse(refused.status, json.dumps({"error": error}).encode())
        raise


@asynccontextmanager
async def serve_upstream(
    port: int, origins: Iterable[str] = (), tell: TellRequest = lambda *_: None
) -> AsyncIterator[UpstreamStandIn]:
    """Serves until the block is left. Raises UsageError where the port is taken.

    `origins` are those of pages elsewhere that may ask, too; `tell` hears of each request.
    """
    allowed = parsed_origins(origins)
    upstream = UpstreamStandIn(ids_from=_FOUR_LETTERS + randbelow(_FOUR_LETTERS))

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection(reader, writer, most_body=MOST_BYTES)
        try:
            with suppress(PeerGoneError):
                stays = True
                while stays and (request := await connection.next_request()) is not None:
                    await _refuse_page(connection, request, allowed)
                    upstream.open_calls += 1
                    upstream.idle.clear()
                    try:
                        stays = await _respond(upstream, connection, request, tell)
                    finally:
                        upstream.open_calls -= 1
                        if not upstream.open_calls:
                            upstream.idle.set()
        except RequestRejected as rejected:  # what is no request is closed
            upstream.strays.note_refusal(rejected.why)
        finally:
            await connection.close()

    async with listening("127.0.0.1", port, accept) as upstream.port:
        yield upstream


async def _respond(
    upstream: UpstreamStandIn,
    connection: ServerConnection,
    request: HttpRequest,
    tell: TellRequest,
) -> bool:
    """Answers; whether the connection goes on."""
    path = request.target.partition("?")[0]
    body = json_or_none(request.body)
    number = upstream.request
    begun = monotonic()
    answer = upstream.answer_call(request.method, path, body, request.headers)
    tell(request.method, path, answer.status)
    if not answer.dialect:
        upstream.strays.note_request(request.method, path, answer.status)
    headers = (("content-type", answer.content_type), ("transfer-encoding", "chunked"))
    stays = connection.start_response(request, answer.status, headers)
    chunks: list[Chunk] = []
    end = await _send_body(connection, answer, chunks, upstream)
    if answer.dialect:
        exchange = Exchange(
            request=replace(
                as_recorded(request, request.target), headers=lower_names(request.headers)
            ),
            response=Response(answer.status, "1.1", headers),
            chunks=tuple(chunks),
            end=end,
            dialect=answer.dialect,
        )
        upstream.keep_call(
            UpstreamCall(exchange, begun, answer.misfit, answer.aside, answer.kind), number
        )
    return stays and end == "eof"


async def _send_body(
    connection: ServerConnection,
    answer: UpstreamAnswer,
    chunks: list[Chunk],
    upstream: UpstreamStandIn,
) -> Ending:
    """Sends a body; `chunks` are what went out of it. How it ended."""
    released, hanging = upstream.released, upstream.hanging  # those of this request
    begun = monotonic()
    try:
        for data in answer.chunks:
            try:
                await connection.send_parts((ChunkPart(data, len(data), whole=True),))
            finally:  # whoever hangs up meanwhile may have read it all the same
                chunks.append(Chunk(data, round((monotonic() - begun) * 1000, 3)))
            begun = monotonic()
        if answer.hangs:
            hanging.set()
            await released.wait()
            await connection.reset()
            return "client-closed"
        if not answer.is_cut:
            await connection.end_response()
            return "eof"
        await connection.reset()
    except PeerGoneError:
        return "client-closed"
    return "reset"
