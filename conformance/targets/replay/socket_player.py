"""Plays one recorded WebSocket: waits for each of the client's messages, and sends the server's.

Rule 1: the recording is chosen by the client's first message, or at once where the server speaks
first. Rule 2: a message that was not recorded here is answered by an error in JSON that says what
differs, and a close (1008). Rule 3: a client that breaks the protocol is closed with the code that
its fault earns. Rule 4: what came and was not played yet is bounded.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final, Protocol

from conformance.targets.replay.matching import ReplayMatch
from conformance.targets.replay.miss import ReplayMiss, explain_message_miss
from conformance.targets.replay.socket_script import SocketScript, SocketStep
from conformance.targets.replay.state import AnsweredRequest, ReplayOutcome, ServerState
from conformance.wire.closing import reset_connection
from conformance.wire.socket_parts import GOING_AWAY, POLICY, FrameKind
from conformance.wire.socket_stream import SocketEndedError, SocketFaultError, SocketStream
from conformance.wire.upgrade import upgrade_head
from conformance.wire.websocket import message_frames

_MOST_WAITING: Final = 16  # messages that came before their turn
_SOON: Final = 0.0005  # seconds; timers are no finer


class NumberedConnection(Protocol):
    """Which connection, and its how many-th request."""

    number: int
    turns: int


class _MissError(Exception):
    """The client's message is none that was recorded here."""

    def __init__(self, miss: ReplayMiss) -> None:
        super().__init__(miss.why)
        self.miss = miss


class SocketPlayer:
    """One connection that has become a WebSocket; `start` returns at once."""

    def __init__(
        self,
        state: ServerState,
        answered: AnsweredRequest,
        transport: asyncio.Transport,
        early: bytes,
        connection: NumberedConnection,
    ) -> None:
        assert answered.sockets is not None
        self.number, self.turns = connection.number, connection.turns
        self._state = state
        self._answered = answered
        self._sockets = answered.sockets
        self._index = answered.sockets.replay.index
        self._transport = transport
        self._stream = _stream_on(transport, early, state)
        self._inbox: asyncio.Queue[bytes] = asyncio.Queue(_MOST_WAITING)
        self._first: bytes | None = None
        self._messages = self._sent = 0
        self._match: ReplayMatch | None = None
        self._due = 0.0
        self._task: asyncio.Task[None]

    def start(self, key: str) -> None:
        """Accepts the handshake, and plays."""
        headers = self._script(self._sockets.numbers[0]).headers
        self._transport.write(upgrade_head(key, headers))
        self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        """The server stops: what was played is delivered, what is under way breaks off."""
        self._task.cancel()

    async def _run(self) -> None:
        listening = asyncio.create_task(self._listen())
        playing = asyncio.create_task(self._play())
        try:
            await asyncio.wait((listening, playing), return_when=asyncio.FIRST_COMPLETED)
            playing.cancel()
            with suppress(asyncio.CancelledError, SocketEndedError):
                await playing
        except asyncio.CancelledError:
            if self._answered.is_noted:
                await self._stream.close(GOING_AWAY)
            self._note("server-closed")
        except TimeoutError:
            await self._stream.close(GOING_AWAY, "nothing came")
        except _MissError as found:
            self._note("refused", found.miss)
            await self._stream.send("text", (found.miss.json_body(),))
            await self._close_in_order(POLICY, listening)
        finally:
            listening.cancel()
            playing.cancel()
            self._note("client-closed")
            self._stream.give_back()
            self._transport.close()
            self._state.remove_connection(self)

    async def _listen(self) -> None:
        """Until the client leaves, one way or the other."""
        with suppress(SocketEndedError):
            try:
                while (part := await self._stream.receive()).is_message:
                    await self._inbox.put(part.data)
                self._note("client-closed")
                await self._stream.close(part.code, part.data.decode())
            except SocketFaultError as found:
                self._note("rejected", ReplayMiss(found.fault.why))

    # Playing.

    async def _play(self) -> None:
        match = self._match = self._answered.found = await self._choose_recording()
        script = match.script
        assert isinstance(script, SocketScript)
        self._due = asyncio.get_running_loop().time()
        last = max((at for at, each in enumerate(script.steps) if each.is_sent), default=-1)
        for at, step in enumerate(script.steps):
            if script.is_broken and self._sent >= script.size:
                break
            if step.is_sent:
                await self._wait(step.ms)
                left = script.size - self._sent
                self._sent += min(left, len(step.message.data))
                if at == last == len(script.steps) - 1 and not script.is_broken:
                    self._note_end(script)
                await self._send_step(script, at, left)
            else:
                await self._expect_message(step)
        await self._end(script)

    async def _choose_recording(self) -> ReplayMatch:
        numbers = self._sockets.numbers
        firsts = [self._script(number).steps[:1] for number in numbers]
        if not firsts[0] or firsts[0][0].is_sent:
            return self._sockets.replay.take(numbers[0])
        sent = self._first = await self._next_message()
        for number, steps in zip(numbers, firsts, strict=True):
            if steps and self._index.answers_message(number, steps[0].message.data, sent):
                return self._sockets.replay.take(number)
        raise self._miss(numbers[0], sent, firsts[0][0].message.data)

    async def _expect_message(self, step: SocketStep) -> None:
        number = self._index.entries.index(self._matched.entry)
        sent, self._first = self._first, None
        if sent is None:
            sent = await self._next_message()
        self._messages += 1
        self._due = asyncio.get_running_loop().time()
        if not self._index.answers_message(number, step.message.data, sent):
            raise self._miss(number, sent, step.message.data)

    async def _next_message(self) -> bytes:
        """Raises TimeoutError where the client is silent for too long."""
        async with asyncio.timeout(self._state.limits.idle_s):
            return await self._inbox.get()

    async def _send_step(self, script: SocketScript, at: int, left: int) -> None:
        """The message of step `at`, or its first `left` bytes."""
        message = script.steps[at].message
        kind: FrameKind = "binary" if message.binary else "text"
        if len(message.data) > left:  # a cut in the middle of a message
            whole = next(message_frames(kind, (message.data,), "server"))
            self._transport.write(whole[: len(whole) - len(message.data) + left])
            return
        await self._stream.send(kind, script.pieces(at))

    async def _wait(self, ms: float) -> None:
        """Times are kept against the message before, so that late timers do not add up."""
        self._due += ms / 1000
        left = self._due - asyncio.get_running_loop().time()
        if left > _SOON:
            await asyncio.sleep(left)

    # Leaving.

    async def _end(self, script: SocketScript) -> None:
        self._note_end(script)
        if script.end == "stall":
            await asyncio.sleep(self._state.limits.hold_s)
            self._note("stalled")
            return
        if script.end == "wait":
            sent = await self._next_message()
            raise self._miss(self._index.entries.index(self._matched.entry), sent, None)
        await self._wait(script.end_ms)
        if script.end == "rst":
            await reset_connection(self._stream.writer, self._state.limits.hold_s)
        elif script.end == "close":
            await self._stream.close(script.code)
            await asyncio.sleep(self._state.limits.close_s)  # the client's close ends this

    async def _close_in_order(self, code: int, listening: asyncio.Task[None]) -> None:
        await self._stream.close(code)
        await asyncio.wait((listening,), timeout=self._state.limits.close_s)

    def _note_end(self, script: SocketScript) -> None:
        if script.end != "stall":
            self._note("cut" if script.end in ("fin", "rst") else "complete")

    @property
    def _matched(self) -> ReplayMatch:
        assert self._match is not None
        return self._match

    def _script(self, number: int) -> SocketScript:
        script = self._index.entry_script(number)
        assert isinstance(script, SocketScript)
        return script

    def _miss(self, number: int, sent: bytes, recorded: bytes | None) -> _MissError:
        entry = self._index.entries[number]
        number_asked = max(self._messages + (recorded is None), 1)
        return _MissError(explain_message_miss(number_asked, sent, recorded, entry, self._index))

    def _note(self, outcome: ReplayOutcome, instead: ReplayMiss | None = None) -> None:
        """How it ended, once; `instead` is why nothing answered."""
        if self._answered.is_noted:
            return
        self._answered.is_noted = True
        if instead is not None:
            self._answered.found = instead
        elif isinstance(self._answered.found, ReplayMiss):
            self._answered.found = ReplayMiss("the client left before its first message")
        script = self._match.script if self._match else None
        if isinstance(script, SocketScript) and outcome == "client-closed":
            is_silent = script.end == "stall" and self._sent >= script.size
            outcome = "stalled" if is_silent else outcome
        self._state.note_outcome(self._answered, self, outcome, self._sent)


def _stream_on(transport: asyncio.Transport, early: bytes, state: ServerState) -> SocketStream:
    """The transport's bytes as a stream, from now on."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    limits = state.limits
    reserve = state.body_budget.take
    return SocketStream(reader, writer, "server", early=early, most=limits.body, reserve=reserve)
