"""An agent as a target: one turn out, every line that passes kept, within limits.

A *turn* is one exchange. Of an agent that takes messages both directions are its lines, in
the order in which they passed, with the handshake before the first turn of a session.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Self

from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.cassette.redaction.own_keys import remember_keys
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from conformance.core.excerpts import redacted
from conformance.dialects import AGENTS, get
from conformance.dialects.agent import AgentConversation, Message
from conformance.report.printable import visible
from conformance.targets.agent.environment import agent_environment
from conformance.targets.agent.passed_keys import passed_keys
from conformance.targets.agent.process import AgentProcess, LongLineError
from conformance.targets.child_process import command_words
from conformance.targets.harmless_calls import NOTES
from conformance.targets.server import FetchedAnswer, NoAnswerError
from conformance.wire.faults import BrokenExchange, ExchangeLimits
from conformance.wire.received import MOST_RECORDED, ReceivedBody

_MOMENT: Final = 1.0  # seconds of silence, before a user stops an answer
_AFTER: Final = 0.1  # seconds in which what comes too late may come
_INSTANT: Final = 0.001  # seconds in which what is there already is read
_SHOWN: Final = 200  # characters of a line in a message
_NOTES: Final = ("Two and two are four.\n", "Four and five are nine.\n")
_HEAD: Final = Response(headers=(("content-type", "application/x-ndjson"),))


class AgentTarget:
    """A command, prompted turn by turn; an asynchronous context manager that ends it.

    `command` is a command line or its words, `url` that of the played model, without `/v1`;
    `passed` are variables of our environment that it gets besides the usual ones. Raises UsageError
    where it is none or cannot be started, no agent speaks `protocol`, or a variable is not there.
    One that takes messages is started anew where it has ended. `left` says who outlived it.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        protocol: str,
        *,
        url: str,
        model: str,
        limits: ExchangeLimits,
        passed: Sequence[str] = (),
    ) -> None:
        self.left: list[str] = []
        if protocol not in AGENTS:
            hint = f"one of {', '.join(AGENTS)}"
            raise UsageError(f"no agent speaks {protocol!r}", hint=hint)
        self._words = command_words(command, "--agent")
        self._form = AGENTS[protocol]
        form = get(protocol).request
        self._carries = form.previous if form else ""
        self._url = url
        self._model = model
        self._limits = limits
        self._passed = passed
        self._folder = tempfile.TemporaryDirectory(
            prefix="conformance-agent-", ignore_cleanup_errors=True
        )
        self._environment: Mapping[str, str] = {}
        self._process: AgentProcess | None = None
        self._conversation: AgentConversation | None = None

    async def __aenter__(self) -> Self:
        home = Path(self._folder.name)
        given = agent_environment(self._url, self._model, home, self._passed)
        self._environment = {**given, **self._form.environment(self._url, self._model, home)}
        remember_keys(passed_keys(self._environment, self._words))
        self.workspace.mkdir()
        for name, text in zip(NOTES, _NOTES, strict=True):
            (self.workspace / name).write_text(text, encoding="utf-8")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._end_process()
        finally:
            self._folder.cleanup()

    async def fetch(
        self,
        request: Request,
        secrets: Mapping[str, str] | None = None,
        most_bytes: int = MOST_RECORDED,
        *,
        stops: asyncio.Event | None = None,
    ) -> FetchedAnswer:
        """Asks for one turn, and takes all lines until it is over.

        `secrets` go nowhere: an agent has a played model. `most_bytes` is what the lines may take
        of a recording. `stops`: the user stops the turn once this has happened and it is silent.
        Raises NoAnswerError where the agent takes no prompt.
        """
        del secrets
        body: Message = request.json if isinstance(request.json, dict) else {}
        is_anew = bool(
            self._process is None and self._form.conversation and body.get(self._carries)
        )
        process = self._process or await self._start_process(body)
        turn = _Turn(process, self._conversation, self._limits, most_bytes)
        try:
            await turn.take(body, stops=stops)
        except NoAnswerError:
            turn.has_ended = True
            raise
        finally:
            if turn.has_ended:
                await self._end_process(patient=not turn.fault)
        process.end_turn()
        exchange = Exchange(
            request=replace(request, path=""),
            response=_HEAD,
            chunks=tuple(turn.chunks),
            end=turn.end,
        )
        clock = CassetteClock(head=0.0, end=turn.silence_ms, begun=turn.begun * 1000)
        size = turn.received.recorded_size
        return FetchedAnswer(exchange, clock, turn.fault, size, is_anew=is_anew)

    @property
    def workspace(self) -> Path:
        """Where its sessions work: a folder of ours, with one file to read."""
        return Path(self._folder.name) / "workspace"

    async def _start_process(self, body: Message) -> AgentProcess:
        own = self._form.words_after(self._words)(body, self._model, str(self.workspace))
        process = await AgentProcess.start([*self._words, *own], self._environment)
        self._process = process
        if self._form.conversation is None:
            process.close_input()
        else:
            self._conversation = self._form.conversation(str(self.workspace))
        return process

    async def _end_process(self, *, patient: bool = True) -> None:
        process, self._process, self._conversation = self._process, None, None
        if process is not None:
            self.left += await process.end(patient=patient)


class _Turn:
    """One turn while it goes on; without a conversation it ends with the process."""

    def __init__(
        self,
        process: AgentProcess,
        conversation: AgentConversation | None,
        limits: ExchangeLimits,
        most_bytes: int,
    ) -> None:
        self.chunks: list[Chunk] = []
        self.received = ReceivedBody(most_bytes)
        self.end: Ending = "eof"
        self.fault = ""
        self.has_ended = conversation is None  # the process
        self._process = process
        self._conversation = conversation
        self._limits = limits
        self.begun = self._last = monotonic()
        self._size = 0
        self._is_answered = False  # anything came that may be the agent's answer
        self._stray = ""  # the first line that is no JSON

    @property
    def silence_ms(self) -> float:
        return round((monotonic() - self._last) * 1000, 3)

    async def take(self, body: Message, *, stops: asyncio.Event | None) -> None:
        """Raises NoAnswerError where the agent takes no prompt, or writes nothing at all."""
        try:
            if self._conversation is not None:
                # What came after the last turn does not belong to this one.
                self._read_lines(await self._next_lines(_INSTANT) or [])
                self._send_messages(self._conversation.ask(body))
            await self._take_lines(stops=stops)
        except BrokenExchange as broken:
            self.end, self.fault = broken.end, f"{broken}{self._process.stderr_words()}"
        if self._conversation is not None and self._conversation.is_prompted:
            self.fault = self.fault or self._conversation.refusal
        self.has_ended = self.has_ended or bool(self.fault)
        if not self._is_answered:
            raise NoAnswerError(self._why_no_answer(), self.end)

    async def _take_lines(self, *, stops: asyncio.Event | None) -> None:
        while True:
            is_over = self._conversation is not None and self._conversation.is_over
            # Whoever has not begun yet has nothing that a user would stop.
            is_stopped = stops is not None and self._is_answered
            waits = _AFTER if is_over else _MOMENT if is_stopped else self._limits.idle
            lines = await self._next_lines(waits)
            if lines:
                self._read_lines(lines)
                if self._conversation is not None and self._conversation.refusal:
                    return
            elif lines is not None:
                await self._note_end(is_over=is_over)
                return
            elif is_over:
                return
            elif is_stopped and stops is not None and stops.is_set():
                stops = None
                self._stop_process()
            elif is_stopped and monotonic() - self._last < self._limits.idle:
                continue  # no request has reached the model yet
            else:
                raise self._limits.fell_silent(self.begun)

    async def _next_lines(self, waits: float) -> list[bytes] | None:
        """The next lines; empty at the end of the output, None where nothing came in time."""
        left = self.begun + self._limits.timeout - monotonic()
        if left <= 0:
            raise self._limits.too_slow()
        try:
            return await asyncio.wait_for(self._process.next_lines(), min(waits, left))
        except TimeoutError:
            return None
        except LongLineError as err:
            self._keep(err.beginning)
            raise BrokenExchange("client-closed", str(err)) from err

    async def _note_end(self, *, is_over: bool) -> None:
        """The output has ended; of a command that takes arguments that is the end of the turn."""
        self.has_ended = True
        if not is_over:
            how = await self._process.how_it_ended()
            if self._conversation is not None or not self._is_answered:
                self.fault = f"the agent {how}"

    def _read_lines(self, lines: list[bytes]) -> None:
        for line in lines:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                self._keep(line)
                text = line.decode("utf-8", "replace").strip()
                self._stray = self._stray or visible(redacted(text), _SHOWN)
                continue
            # An agent reports on all its sessions; that this one is another is our doing.
            if self._conversation is not None and self._conversation.is_elsewhere(message):
                continue
            self._keep(line)
            if self._conversation is None:
                self._is_answered = True
            else:
                self._is_answered = self._is_answered or self._conversation.is_prompted
                self._send_messages(self._conversation.take(message))

    def _send_messages(self, messages: list[Message]) -> None:
        for message in messages:
            line = json.dumps(message).encode() + b"\n"
            self._keep(line)
            if not self._process.write(line):
                raise BrokenExchange("client-closed", "the agent does not read its input")

    def _stop_process(self) -> None:
        if self._conversation is None:
            self._process.interrupt()
            self.end = "client-closed"
        else:
            self._send_messages(self._conversation.stop())

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limits.max_bytes:
            raise self._limits.too_much()
        taken, broken = self.received.take(data)
        now = monotonic()
        if taken:
            self.chunks.append(Chunk(taken, round((now - self._last) * 1000, 3)))
            self._last = now
        if broken:
            raise broken

    def _why_no_answer(self) -> str:
        refusal = self._conversation.refusal if self._conversation is not None else ""
        why = f"the agent cannot be prompted: {refusal}" if refusal else self.fault
        stray = f"; it wrote text that is not JSON: {self._stray}" if self._stray else ""
        return f"{why or 'the agent said nothing'}{stray}"
