"""The server behind a gateway, played by the toolkit: by a script, call by call, or as recorded.

The gateway is the target, so what it asks is hostile until proven otherwise: requests are bounded,
and whatever is no request is closed. Every scripted answer is another one, so that two calls cannot
be taken for each other. Its texts are plain, so that one loss is one finding: what gateways lose
in texts is said where a scenario asks for it, one character at a time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.chunked import ChunkPart
from conformance.core.events import Chunk, Ending, Exchange, Response
from conformance.core.framing import framing_of
from conformance.core.reading import Reading
from conformance.dialects import ENDPOINTS, SUPPORTED, dialect_at, get, required
from conformance.dialects.script import CONTENT_TYPES, MODEL, ScriptedAnswer, encode_stream
from conformance.scenarios.model import CHARACTERS
from conformance.targets.side_calls import asks_question, holds_question
from conformance.wire.heads import lower_names
from conformance.wire.hosts import parsed_origins, refuse_foreign_pages
from conformance.wire.requests import HttpRequest, RequestRejected, as_recorded, json_or_none
from conformance.wire.server import PeerGoneError, ServerConnection, listening

MOST_BYTES: Final = 8 * 1024 * 1024
MOST_CALLS: Final = 1000  # calls of one step
_MOMENT: Final = 1.0  # seconds
_DELTAS: Final = 2  # of thinking, before an answer breaks inside it
_JSON: Final = "application/json"
_STATUS: Final = {"refused": 400, "unavailable": 500}
_BROKEN: Final = frozenset({*_STATUS, "no-finish", "cut", "error"})
_ERRORS: Final = {
    "refused": "the script refuses",
    "unavailable": "the script has no worker",
    "error": "the script breaks off",
}


class UpstreamAnswer(Struct, frozen=True):
    """A response: head, body chunk by chunk, and whether the connection is reset after it.

    `misfit` says why this is no answer to what the gateway asked; else it is empty. `hangs`: after
    the last chunk nothing comes until the next request, or the other side hangs up. `breaks_off`:
    it is not all there. `aside`: the call is none of the turn that is under way.
    """

    status: int
    content_type: str
    chunks: tuple[bytes, ...]
    is_cut: bool = False
    misfit: str = ""
    hangs: bool = False
    breaks_off: bool = False
    aside: bool = False


class UpstreamCall(Struct, frozen=True):
    """One call of the gateway, with what it was answered; its exchange has its dialect.

    `misfit` says why that was no answer to it; else it is empty. `aside`: it is none of the turn.
    `begun` is when it came, by `monotonic`.
    """

    exchange: Exchange
    begun: float
    misfit: str = ""
    aside: bool = False


class ScriptedUpstream(Struct, frozen=True):
    """Words of `scenarios.UPSTREAM`, one for each call of a request; the last one goes on.

    `says` is one of `scenarios.CHARACTERS`, or empty.
    """

    words: Sequence[str] = ("answer",)
    says: str = ""

    def answer_call(
        self, dialect: str, call: int, number: int, body: Mapping[str, Any]
    ) -> UpstreamAnswer:
        """The answer to call number `call` of the request (from 0), number `number` of the run."""
        word = self.words[min(call, len(self.words) - 1)]
        answer = scripted_answer(word, dialect, number, body, self.says)
        return replace(answer, breaks_off=word in _BROKEN)


class RecordedUpstream(Struct, frozen=True):
    """A recorded exchange with its dialect, given to the first call as it was recorded.

    Later calls (a summary) are answered by a script. A call in another API, or for a whole body
    where a stream was recorded, has no answer here: it is told as a misfit.
    """

    exchange: Exchange

    def answer_call(
        self, dialect: str, call: int, number: int, body: Mapping[str, Any]
    ) -> UpstreamAnswer:
        """As `ScriptedUpstream.answer_call`."""
        if call:
            return scripted_answer("answer", dialect, number, body)
        if misfit := self._misfit(dialect, body):
            return _misfit_answer(misfit)
        response = self.exchange.response or Response()
        return UpstreamAnswer(
            status=response.status or 200,
            content_type=response.header("content-type") or self._default_content_type,
            chunks=tuple(chunk.data for chunk in self.exchange.chunks),
            is_cut=self.exchange.end != "eof",
            breaks_off=self.exchange.end != "eof",
        )

    @property
    def streams(self) -> bool:
        """Whether a stream was recorded."""
        return framing_of(self.exchange) != "body"

    @property
    def _default_content_type(self) -> str:
        recorded = SUPPORTED.get(self.exchange.dialect or "")
        return CONTENT_TYPES[recorded.framing if recorded else "sse"] if self.streams else _JSON

    def _misfit(self, dialect: str, body: Mapping[str, Any]) -> str:
        recorded = self.exchange.dialect
        if dialect != recorded:
            return f"the gateway asked upstream in {dialect}, {recorded} was recorded"
        status = self.exchange.response.status if self.exchange.response else None
        if (status or 200) < 300 and _wants_stream(dialect, body) is not self.streams:
            forms = ("a whole body", "a stream")
            had, wanted = forms if not self.streams else reversed(forms)
            return f"the gateway asked upstream for {wanted}, {had} was recorded"
        return ""


class RecordedCalls(Struct, frozen=True):
    """Recorded exchanges by dialect, one for each call of a request; the last one goes on.

    `breaks` is a word of `scenarios.BREAKS`: it happens to the last of them inside its thinking.
    """

    exchanges: Mapping[str, Sequence[Exchange]]
    breaks: str = ""

    def answer_call(
        self, dialect: str, call: int, number: int, body: Mapping[str, Any]
    ) -> UpstreamAnswer:
        """As `ScriptedUpstream.answer_call`."""
        recorded = self.exchanges.get(dialect, ())
        if not recorded:
            return _misfit_answer(f"nothing is recorded for an application that asks in {dialect}")
        at = min(call, len(recorded) - 1)
        answer = RecordedUpstream(recorded[at]).answer_call(dialect, 0, number, body)
        if not self.breaks or at < len(recorded) - 1 or answer.misfit:
            return answer
        begun = tuple(_until_thinking(recorded[at], dialect))
        how = {"is_cut": self.breaks == "cut", "hangs": self.breaks == "hangs"}
        return replace(answer, chunks=begun, breaks_off=True, **how)


def _until_thinking(exchange: Exchange, dialect: str) -> Iterator[bytes]:
    """The bytes of an answer up to its second delta of thinking."""
    deltas, size, body = 0, 0, exchange.body
    for traced in get(dialect).trace(exchange, Reading()):
        if deltas == _DELTAS and traced.frame is not None:
            body = body[: traced.frame.offset]
            break
        deltas += sum(event.type == "thinking.delta" for event in traced.events)
    for chunk in exchange.chunks:
        if piece := chunk.data[: len(body) - size]:
            yield piece
        size += len(chunk.data)
        if size >= len(body):
            return


UpstreamSource = ScriptedUpstream | RecordedUpstream | RecordedCalls


def scripted_answer(
    word: str, dialect: str, number: int, body: Mapping[str, Any], says: str = ""
) -> UpstreamAnswer:
    """The answer to call `number` by one word; its texts hold the characters of that name."""
    script = required(get(dialect).script, dialect, "scripted answers")
    if word in _STATUS:
        is_refusal = word == "refused"
        return _json_answer(_STATUS[word], script.error(_ERRORS[word], is_refusal=is_refusal))
    edge, midst = CHARACTERS.get(says, ("", " "))
    answer = ScriptedAnswer(
        word,
        number,
        # Who hides thinking counts it all the same.
        thinking=(
            "" if word == "hidden" else f"{edge}Two and two, thought {number}:{midst}is 4.{edge}"
        ),
        text=f"{edge}Answer {number}:{midst}**4**, no more.{edge}",
        summary=f"A sum, summary {number}:{midst}done.",
        error=_ERRORS["error"],
    )
    if _wants_stream(dialect, body):
        framing = get(dialect).framing
        chunks = tuple(encode_stream(script.stream(answer, body), framing))
        return UpstreamAnswer(200, CONTENT_TYPES[framing], chunks, is_cut=word == "cut")
    if word == "error":
        return _json_answer(500, script.error(answer.error, is_refusal=False))
    return _json_answer(200, script.body(answer, body), is_cut=word == "cut")


def _wants_stream(dialect: str, body: Mapping[str, Any]) -> bool:
    return required(get(dialect).request, dialect, "request bodies").streams(body)


def _misfit_answer(misfit: str) -> UpstreamAnswer:
    error = {"message": misfit, "type": "invalid_request_error", "code": None}
    return _json_answer(501, {"type": "error", "error": error}, misfit=misfit)


def _json_answer(
    status: int, payload: Mapping[str, Any], *, is_cut: bool = False, misfit: str = ""
) -> UpstreamAnswer:
    data = json.dumps(payload, ensure_ascii=False).encode()
    return UpstreamAnswer(status, _JSON, (data,), is_cut, misfit)


def _model_list(path: str) -> UpstreamAnswer | None:
    """The list of models, for gateways that look before they ask; None at another path."""
    listings = (each.models for each in SUPPORTED.values() if each.models)
    found = next((each for each in listings if path.rstrip("/").endswith(each.path)), None)
    return _json_answer(200, found.body(MODEL)) if found else None


class UpstreamStandIn(Struct):
    """What answers next, and the calls since `begin_request`, in the order of their answers."""

    port: int = 0
    request: int = 0  # number of the one that is under way
    calls: list[UpstreamCall] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)  # what hangs ends then
    open_calls: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)  # no call is under way
    _source: UpstreamSource = field(default_factory=ScriptedUpstream)
    _number: int = 0
    _answered: int = 0
    _question: str = ""
    _broke_off: bool = False  # the last answer

    def begin_request(self, source: UpstreamSource, question: str = "") -> None:
        """A request goes out to the gateway: calls that were made before are nobody's.

        `question` is what the user says in it, where the target is known to pass that on as it is.
        """
        self.release()
        self._source, self._answered, self.calls = source, 0, []
        self._question, self._broke_off = question, False
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

    def answer_call(self, method: str, path: str, body: Any) -> UpstreamAnswer:
        """What a request is answered: 404 where nothing is known of its path."""
        dialect = dialect_at(path)
        if method == "POST" and dialect is not None:
            self._number, call = self._number + 1, self._answered
            fields = {**ENDPOINTS[dialect].stated(path), **(body if isinstance(body, dict) else {})}
            if self._is_aside(fields):
                answer = scripted_answer("answer", dialect, self._number, fields)
                return replace(answer, aside=True)
            self._answered += 1
            answer = self._source.answer_call(dialect, call, self._number, fields)
            self._broke_off = answer.breaks_off
            return answer
        listed = _model_list(path) if method == "GET" else None
        return listed or _json_answer(404, {"error": {"message": "no such path"}})

    def _is_aside(self, fields: Mapping[str, Any]) -> bool:
        question = self._question
        if not question or asks_question(fields, question):
            return False
        return not (self._broke_off and holds_question(fields, question))

    def keep_call(self, call: UpstreamCall, request: int) -> None:
        """Keeps a call that was made for that request, unless another one is under way now."""
        if request == self.request and len(self.calls) < MOST_CALLS:
            self.calls.append(call)


async def _refuse_page(
    connection: ServerConnection, request: HttpRequest, allowed: frozenset[str]
) -> None:
    """Raises RequestRejected, once the page that asked has its answer."""
    try:
        refuse_foreign_pages(request, allowed)
    except RequestRejected as refused:
        error = {"message": f"conformance: {refused}", "type": "invalid_request_error"}
        await connection.refuse(refused.status, json.dumps({"error": error}).encode())
        raise


@asynccontextmanager
async def serve_upstream(port: int, origins: Iterable[str] = ()) -> AsyncIterator[UpstreamStandIn]:
    """Serves until the block is left. Raises UsageError where the port is taken.

    `origins` are those of pages elsewhere that may ask, too.
    """
    allowed = parsed_origins(origins)
    upstream = UpstreamStandIn()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection(reader, writer, most_body=MOST_BYTES)
        try:
            with suppress(RequestRejected, PeerGoneError):  # what is no request is closed
                stays = True
                while stays and (request := await connection.next_request()) is not None:
                    await _refuse_page(connection, request, allowed)
                    upstream.open_calls += 1
                    upstream.idle.clear()
                    try:
                        stays = await _respond(upstream, connection, request)
                    finally:
                        upstream.open_calls -= 1
                        if not upstream.open_calls:
                            upstream.idle.set()
        finally:
            await connection.close()

    async with listening("127.0.0.1", port, accept) as upstream.port:
        yield upstream


async def _respond(
    upstream: UpstreamStandIn, connection: ServerConnection, request: HttpRequest
) -> bool:
    """Answers; whether the connection goes on."""
    path = request.target.partition("?")[0]
    body = json_or_none(request.body)
    number = upstream.request
    begun = monotonic()
    answer = upstream.answer_call(request.method, path, body)
    headers = (("content-type", answer.content_type), ("transfer-encoding", "chunked"))
    stays = connection.start_response(request, answer.status, headers)
    chunks: list[Chunk] = []
    end = await _send_body(connection, answer, chunks, upstream.released)
    if dialect_at(path) and request.method == "POST":
        exchange = Exchange(
            request=replace(
                as_recorded(request, request.target), headers=lower_names(request.headers)
            ),
            response=Response(answer.status, "1.1", headers),
            chunks=tuple(chunks),
            end=end,
            dialect=dialect_at(path),
        )
        upstream.keep_call(UpstreamCall(exchange, begun, answer.misfit, answer.aside), number)
    return stays and end == "eof"


async def _send_body(
    connection: ServerConnection,
    answer: UpstreamAnswer,
    chunks: list[Chunk],
    released: asyncio.Event,
) -> Ending:
    """Sends a body; `chunks` are what went out of it. How it ended."""
    begun = monotonic()
    try:
        for data in answer.chunks:
            await connection.send_parts((ChunkPart(data, len(data), whole=True),))
            chunks.append(Chunk(data, round((monotonic() - begun) * 1000, 3)))
            begun = monotonic()
        if answer.hangs:
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
