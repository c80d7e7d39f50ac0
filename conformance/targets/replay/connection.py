"""One client's connection: requests in, one after the other, and each answer played back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from conformance.targets.replay.matching import ReplayMatch
from conformance.targets.replay.miss import ReplayMiss
from conformance.targets.replay.script import AnswerScript
from conformance.targets.replay.state import (
    AnsweredRequest,
    ReplayOutcome,
    ServerState,
    rejected_request,
)
from conformance.targets.replay.writing import AnswerWriter, BodyEnd, body_end
from conformance.wire.closing import ConnectionCloser
from conformance.wire.heads import json_response, response_head
from conformance.wire.requests import CONTINUE, HttpRequest, RequestReader, RequestRejected
from conformance.wire.upgrade import client_key

_EARLY: Final = 256 * 1024  # bytes of later requests that wait while one is answered


class ReplayConnection(asyncio.Protocol):
    """States: reading (no writer), answering, leaving (a closer)."""

    def __init__(self, state: ServerState, loop: asyncio.AbstractEventLoop) -> None:
        self._state = state
        self._loop = loop
        self._reader = self._new_reader()
        self._early = bytearray()
        self._reserved = 0
        self._is_continued = False
        self._is_choked = False
        self._answered: AnsweredRequest | None = None
        self._writer: AnswerWriter | None = None
        self._body_end: BodyEnd = "none"
        self._closer: ConnectionCloser | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport
        self.number = 0
        self.turns = 0

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.number = self._state.add_connection(self)
        if self.number:
            self._set_timer(self._state.limits.idle_s, self._transport.close)
        else:
            self._reject_request(RequestRejected(503, "there are too many connections"))

    def data_received(self, data: bytes) -> None:
        if self._closer is not None:
            return
        if self._answered is None and not self._early and not self._is_choked:
            self._feed_reader(data)
            return
        self._early += data
        if len(self._early) > _EARLY:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """A client that says no more has left: its answer is not read to the end."""
        if self._closer is None and self._answered is None and self._reader.begun:
            self._reject_request(
                RequestRejected(400, "the client left in the middle of its request")
            )
        self._break_off("client-closed")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # a reset is one way to leave
        self._break_off("client-closed")
        self._cancel_timer()
        if self._closer is not None:
            self._closer.cancel()
        self._release_room()
        self._state.remove_connection(self)

    def pause_writing(self) -> None:
        self._is_choked = True
        self._set_timer(self._state.limits.hold_s, self._transport.abort)
        if self._writer is not None:
            self._writer.pause_writing()

    def resume_writing(self) -> None:
        self._is_choked = False
        self._cancel_timer()
        if self._writer is not None:
            self._writer.resume_writing()
        elif self._closer is None:
            self._next_request(keeps_alive=True)

    def close(self) -> None:
        """The server stops: what was answered is delivered, what is under way breaks off."""
        if self._answered is None:
            self._transport.close()
            self._set_timer(self._state.limits.close_s, self._transport.abort)
        else:
            self._break_off("server-closed")
            self._transport.abort()

    # Reading.

    def _feed_reader(self, data: bytes) -> None:
        try:
            request = self._reader.feed(data)
            self._reserve_room()
            if request is not None and self._state.hosts is not None:
                self._state.hosts.check_request(request)
        except RequestRejected as reason:
            self._reject_request(reason)
            return
        if request is not None:
            self._answer_request(request)
            return
        if self._reader.awaits_continue and not self._is_continued:
            self._is_continued = True
            self._transport.write(CONTINUE)
        if self._reader.begun:
            self._limit_request_time()

    def _new_reader(self) -> RequestReader:
        self._is_timed = False
        return RequestReader(self._state.limits.head, self._state.limits.body)

    def _feed_early_bytes(self) -> None:
        """Parse the bytes that came during an answer, before any that come now."""
        early, self._early = bytes(self._early), bytearray()
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._feed_reader(early)

    def _reserve_room(self) -> None:
        size = self._reader.size - self._reserved
        if size and not self._state.body_budget.take(size):
            raise RequestRejected(503, "the bodies of all requests together are too large")
        self._reserved += size

    def _release_room(self) -> None:
        self._state.body_budget.take(-self._reserved)
        self._reserved = 0

    def _limit_request_time(self) -> None:
        """From its first byte on, a request has its time: more bytes do not start it anew."""
        if not self._is_timed:
            self._is_timed = True
            late = RequestRejected(408, "the request was not complete in time")
            self._set_timer(self._state.limits.request_s, partial(self._reject_request, late))

    def _reject_request(self, reason: RequestRejected) -> None:
        self.turns += 1
        self._state.note_outcome(rejected_request(reason), self, "rejected", 0)
        fields = {"type": "replay_rejected", "message": reason.why}
        body = msgspec.json.encode({"type": "error", "error": fields})
        self._transport.write(json_response(reason.status, body, keeps_alive=False))
        self._close_connection()

    # Answering.

    def _answer_request(self, request: HttpRequest) -> None:
        self._cancel_timer()
        self._early = bytearray(self._reader.rest)
        self._reader = self._new_reader()
        self._is_continued = False
        self._release_room()
        self.turns += 1
        answered = self._answered = self._state.find_answer(request)
        if answered.sockets is not None and answered.sockets.numbers:
            self._switch_protocols(answered)
        elif isinstance(answered.found, ReplayMiss):
            self._refuse_request(answered, answered.found)
        else:
            self._start_answer(answered, answered.found)

    def _switch_protocols(self, answered: AnsweredRequest) -> None:
        """From here on the connection is a WebSocket, and another one's business."""
        from conformance.targets.replay.socket_player import SocketPlayer  # noqa: PLC0415  # a library of its own

        try:
            key = client_key(answered.request)
        except RequestRejected as reason:
            self._note_outcome("refused", 0)
            self._answered = None
            self._reject_request(reason)
            return
        player = SocketPlayer(self._state, answered, self._transport, bytes(self._early), self)
        self._state.hand_over(self, player)
        player.start(key)

    def _refuse_request(self, answered: AnsweredRequest, miss: ReplayMiss) -> None:
        self._note_outcome("complete" if miss.lookup else "refused", 0)
        body = b"" if answered.request.method == "HEAD" else miss.json_body()
        self._transport.write(
            json_response(miss.status, body, keeps_alive=answered.request.keeps_alive)
        )
        self._next_request(keeps_alive=answered.request.keeps_alive)

    def _start_answer(self, answered: AnsweredRequest, match: ReplayMatch) -> None:
        request, script = answered.request, match.answer
        how_ends = body_end(script, head_only=request.method == "HEAD", http11=request.http11)
        self._body_end = how_ends
        keeps = request.keeps_alive and how_ends != "close" and script.end == "whole"
        self._writer = AnswerWriter(
            self._loop,
            self._transport,
            script,
            note=lambda outcome: self._note_outcome(outcome, script.size),
            done=partial(self._after_answer, keeps_alive=keeps),
        )
        self._writer.start_writing(_head_bytes(script, how_ends), how_ends)

    def _after_answer(self, *, keeps_alive: bool) -> None:
        assert self._writer is not None
        script = self._writer.script
        end = script.end
        if end == "stall" and self._body_end != "none":
            self._set_timer(self._state.limits.hold_s, self._end_stall)
        elif end == "rst" or (end == "fin" and self._body_end == "close" and script.has_head):
            # Where closing is the end of the body, only a reset shows that it was cut.
            self._close_connection(reset=True)
        else:
            self._next_request(keeps_alive=keeps_alive)

    def _end_stall(self) -> None:
        self._break_off("stalled")
        self._close_connection()

    def _next_request(self, *, keeps_alive: bool) -> None:
        self._answered = self._writer = None
        if not keeps_alive:
            self._close_connection()
            return
        if self._is_choked:  # who does not read its answers gets no more of them
            return
        self._set_timer(self._state.limits.idle_s, self._transport.close)
        if self._early:
            self._loop.call_soon(self._feed_early_bytes)

    # Leaving.

    def _close_connection(self, *, reset: bool = False) -> None:
        self._cancel_timer()
        self._answered = self._writer = None
        self._closer = ConnectionCloser(self._loop, self._transport, self._state.limits.hold_s)
        if reset:
            self._closer.send_rst()
        else:
            self._closer.send_fin()

    def _break_off(self, outcome: ReplayOutcome) -> None:
        """The answer ends here, if one was under way."""
        writer = self._writer
        if writer is not None:
            writer.stop_writing()
            silent = writer.script.end == "stall" and writer.sent >= writer.script.size
            outcome = "stalled" if silent else outcome
        self._note_outcome(outcome, writer.sent if writer else 0)
        self._answered = self._writer = None

    def _note_outcome(self, outcome: ReplayOutcome, sent: int) -> None:
        answered = self._answered
        if answered is not None and not answered.is_noted:
            answered.is_noted = True
            self._state.note_outcome(answered, self, outcome, sent)

    def _set_timer(self, seconds: float, then: Callable[[], None]) -> None:
        self._cancel_timer()
        self._timer = self._loop.call_later(seconds, then)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _head_bytes(script: AnswerScript, body_end: BodyEnd) -> bytes:
    """The recorded head; of ours there is what frames the body, where the recording has nothing.

    Never `connection: close`: it would tell clients that the end of the connection ends the body,
    and some then take a body that broke off for whole.
    """
    version = "1.0" if script.http == "1.0" and body_end != "chunked" else "1.1"
    headers = script.headers
    if body_end == "chunked":
        headers = (*headers, ("transfer-encoding", "chunked"))
    return response_head(script.status, headers, version=version)
