"""One client's connection: requests in, one after the other, and each answer played back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from conformance.targets.replay.matching import Match
from conformance.targets.replay.miss import Miss
from conformance.targets.replay.playing import Framing, Player, framing
from conformance.targets.replay.script import Script
from conformance.targets.replay.seen import Outcome
from conformance.targets.replay.site import Site
from conformance.targets.replay.turn import Turn
from conformance.wire.closing import ConnectionCloser
from conformance.wire.heads import json_response, response_head
from conformance.wire.requests import CONTINUE, HttpRequest, RequestReader, RequestRejected

_EARLY: Final = 256 * 1024  # bytes of later requests that wait while one is answered


class Connection(asyncio.Protocol):
    """States: reading (no player), playing, leaving (a closer)."""

    def __init__(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        self._site = site
        self._loop = loop
        self._reader = self._new_reader()
        self._early = bytearray()
        self._reserved = 0
        self._continued = False
        self._choked = False
        self._turn: Turn | None = None
        self._player: Player | None = None
        self._framing: Framing = "none"
        self._closer: ConnectionCloser | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport
        self.number = 0
        self.turns = 0

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.number = self._site.opened(self)
        if self.number:
            self._wait(self._site.limits.idle_s, self._transport.close)
        else:
            self._reject(RequestRejected(503, "there are too many connections"))

    def data_received(self, data: bytes) -> None:
        if self._closer is not None:
            return
        if self._turn is None and not self._early and not self._choked:
            self._feed(data)
            return
        self._early += data
        if len(self._early) > _EARLY:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """A client that says no more has left: its answer is not read to the end."""
        if self._closer is None and self._turn is None and self._reader.begun:
            self._reject(RequestRejected(400, "the client left in the middle of its request"))
        self._left("client-closed")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # a reset is one way to leave
        self._left("client-closed")
        self._stop_waiting()
        if self._closer is not None:
            self._closer.cancel()
        self._give_back()
        self._site.lost(self)

    def pause_writing(self) -> None:
        self._choked = True
        self._wait(self._site.limits.hold_s, self._transport.abort)
        if self._player is not None:
            self._player.hold()

    def resume_writing(self) -> None:
        self._choked = False
        self._stop_waiting()
        if self._player is not None:
            self._player.release()
        elif self._closer is None:
            self._next(keeps_alive=True)

    def close(self) -> None:
        """The server stops: what was answered is delivered, what is under way breaks off."""
        if self._turn is None:
            self._transport.close()
            self._wait(self._site.limits.close_s, self._transport.abort)
        else:
            self._left("server-closed")
            self._transport.abort()

    # Reading.

    def _feed(self, data: bytes) -> None:
        try:
            asked = self._reader.feed(data)
            self._hold_room()
        except RequestRejected as reason:
            self._reject(reason)
            return
        if asked is not None:
            self._answer(asked)
            return
        if self._reader.awaits_continue and not self._continued:
            self._continued = True
            self._transport.write(CONTINUE)
        if self._reader.begun:
            self._wait_for_rest()

    def _new_reader(self) -> RequestReader:
        self._timed = False
        return RequestReader(self._site.limits.head, self._site.limits.body)

    def _feed_early(self) -> None:
        """What came while an answer was under way; what comes now stands behind it."""
        early, self._early = bytes(self._early), bytearray()
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._feed(early)

    def _hold_room(self) -> None:
        size = self._reader.size - self._reserved
        if size and not self._site.reserve(size):
            raise RequestRejected(503, "the bodies of all requests together are too large")
        self._reserved += size

    def _give_back(self) -> None:
        self._site.reserve(-self._reserved)
        self._reserved = 0

    def _wait_for_rest(self) -> None:
        """From its first byte on, a request has its time: more bytes do not start it anew."""
        if not self._timed:
            self._timed = True
            late = RequestRejected(408, "the request did not come to its end in time")
            self._wait(self._site.limits.request_s, partial(self._reject, late))

    def _reject(self, reason: RequestRejected) -> None:
        self.turns += 1
        self._site.note(Turn.rejected(reason), self, "rejected", 0)
        fields = {"type": "replay_rejected", "message": reason.why}
        body = msgspec.json.encode({"type": "error", "error": fields})
        self._transport.write(json_response(reason.status, body, keeps_alive=False))
        self._leave()

    # Answering.

    def _answer(self, asked: HttpRequest) -> None:
        self._stop_waiting()
        self._early = bytearray(self._reader.rest)
        self._reader = self._new_reader()
        self._continued = False
        self._give_back()
        self.turns += 1
        turn = self._turn = self._site.turn(asked)
        if isinstance(turn.found, Miss):
            self._refuse(turn, turn.found)
        else:
            self._play(turn, turn.found)

    def _refuse(self, turn: Turn, miss: Miss) -> None:
        self._note("refused", 0)
        body = b"" if turn.asked.method == "HEAD" else miss.body()
        self._transport.write(json_response(404, body, keeps_alive=turn.asked.keeps_alive))
        self._next(keeps_alive=turn.asked.keeps_alive)

    def _play(self, turn: Turn, match: Match) -> None:
        asked, script = turn.asked, match.script
        kind = framing(script, head_only=asked.method == "HEAD", http11=asked.http11)
        self._framing = kind
        keeps = asked.keeps_alive and kind != "close" and script.end == "whole"
        self._player = Player(
            self._loop,
            self._transport,
            script,
            note=lambda outcome: self._note(outcome, script.size),
            done=partial(self._played, keeps_alive=keeps),
        )
        self._player.start(_recorded_head(script, kind, keeps_alive=keeps), kind)

    def _played(self, *, keeps_alive: bool) -> None:
        assert self._player is not None
        script = self._player.script
        end = script.end
        if end == "stall" and self._framing != "none":
            self._wait(self._site.limits.hold_s, self._given_up)
        elif end == "rst" or (end == "fin" and self._framing == "close" and script.has_head):
            # Where closing is the end of the body, only a reset tells that it was cut.
            self._leave(reset=True)
        else:
            self._next(keeps_alive=keeps_alive)

    def _given_up(self) -> None:
        self._left("stalled")
        self._leave()

    def _next(self, *, keeps_alive: bool) -> None:
        self._turn = self._player = None
        if not keeps_alive:
            self._leave()
            return
        if self._choked:  # who does not read its answers gets no more of them
            return
        self._wait(self._site.limits.idle_s, self._transport.close)
        if self._early:
            self._loop.call_soon(self._feed_early)

    # Leaving.

    def _leave(self, *, reset: bool = False) -> None:
        self._stop_waiting()
        self._turn = self._player = None
        self._closer = ConnectionCloser(self._loop, self._transport, self._site.limits.hold_s)
        if reset:
            self._closer.send_rst()
        else:
            self._closer.send_fin()

    def _left(self, outcome: Outcome) -> None:
        """The answer ends here, if one was under way."""
        player = self._player
        if player is not None:
            player.stop()
            silent = player.script.end == "stall" and player.sent >= player.script.size
            outcome = "stalled" if silent else outcome
        self._note(outcome, player.sent if player else 0)
        self._turn = self._player = None

    def _note(self, outcome: Outcome, sent: int) -> None:
        turn = self._turn
        if turn is not None and not turn.is_noted:
            turn.is_noted = True
            self._site.note(turn, self, outcome, sent)

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._stop_waiting()
        self._timer = self._loop.call_later(seconds, then)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _recorded_head(script: Script, framing: Framing, *, keeps_alive: bool) -> bytes:
    """The recorded head, with what frames the body on this connection."""
    version = "1.0" if script.http == "1.0" and framing != "chunked" else "1.1"
    headers = script.headers
    if framing == "chunked":
        headers = (*headers, ("transfer-encoding", "chunked"))
    elif script.length is not None and framing != "close":
        headers = (*headers, ("content-length", str(script.length)))
    if not keeps_alive:
        headers = (*headers, ("connection", "close"))
    return response_head(script.status, headers, version=version)
