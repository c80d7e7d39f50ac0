"""An agent as a process: its lines, its stderr, and its end.

Rule 1: nothing that it writes is kept without a bound: a line has one, and of stderr the end stays.
        Its lines of one turn do not explain the next.
Rule 2: nothing is waited for without a deadline, also not for an agent to read what it is sent.
Rule 3: whatever happens, it is ended together with everything that it started.
Rule 4: it has ended when its process has, also where a child that it left running holds its output
        open: what it wrote itself is still read.
"""

from __future__ import annotations

import asyncio
from asyncio import BaseProtocol, BaseTransport, StreamReader, StreamReaderProtocol, WriteTransport
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import IO, Final, Self, SupportsIndex

from conformance.core.excerpts import MARGIN
from conformance.targets.child_process import (
    Program,
    describe_exit,
    start_program,
    stderr_words,
    unread_bytes,
)

LONGEST_LINE: Final = 4 * 1024 * 1024  # bytes
_MOST_UNREAD: Final = 1024 * 1024  # bytes that it was sent and did not read
_TAIL: Final = 4096  # bytes of its stderr
_READ: Final = 1 << 16
_PATIENCE: Final = 2.0  # seconds that it may take to end by itself


class LongLineError(Exception):
    """A line is longer than any may be; `beginning` are its first bytes."""

    def __init__(self, beginning: bytes) -> None:
        super().__init__(f"a line of more than {LONGEST_LINE} bytes")
        self.beginning = beginning


class _OutputReader(StreamReader):
    """Reads a pipe up to its end, or to where the program was when it ended (rule 4)."""

    _fed = 0
    _ends_at = float("inf")

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        own = bytes(data)
        own = own[: int(min(len(own), self._ends_at - self._fed))]
        if own:
            self._fed += len(own)
            super().feed_data(own)
        if self._fed >= self._ends_at:
            self.feed_eof()

    def end_after(self, size: int) -> None:
        """Nothing follows after so many bytes that are not read yet."""
        self._ends_at = self._fed + size
        self.feed_data(b"")


class AgentProcess:
    """A running agent. Made by `start`, ended by `end`."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._stdout = _OutputReader(limit=_READ)
        self._stderr = _OutputReader(limit=_READ)
        self._transports: list[BaseTransport] = []
        self._stdin: WriteTransport | None = None
        self._begun = bytearray()
        self._tail = b""
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, words: Sequence[str], environment: Mapping[str, str]) -> Self:
        """Starts a command. Raises UsageError where that is not possible."""
        process = cls(start_program(words, environment, "--agent"))
        await process._connect()
        return process

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._program, self._take_news)
        for reader, pipe in self._pipes():
            transport, _ = await loop.connect_read_pipe(partial(StreamReaderProtocol, reader), pipe)
            self._transports.append(transport)
        self._stdin, _ = await loop.connect_write_pipe(BaseProtocol, self._program.stdin)
        self._transports.append(self._stdin)
        self._watch = asyncio.create_task(self._keep_stderr())

    def write(self, line: bytes) -> bool:
        """Hands over a line; False where the agent does not read what it was sent before."""
        stdin = self._stdin
        if stdin is None or stdin.is_closing():
            return True  # what it writes, or its end, shows the rest
        if stdin.get_write_buffer_size() > _MOST_UNREAD:
            return False
        stdin.write(line)
        return True

    def close_input(self) -> None:
        """Nothing more is sent to it."""
        if self._stdin is not None:
            self._stdin.close()

    async def next_lines(self) -> list[bytes]:
        """The next lines with their ends, at least one; none at the end of its output.

        What comes after the last line end is a line, too. Raises LongLineError.
        """
        while data := await self._stdout.read(_READ):
            *whole, rest = data.split(b"\n")
            lines = [part + b"\n" for part in whole]
            if lines:
                lines[0] = bytes(self._begun) + lines[0]
                self._begun.clear()
            self._begun += rest
            if len(self._begun) > LONGEST_LINE:
                raise LongLineError(bytes(self._begun[:LONGEST_LINE]))
            if lines:
                return lines
        last, self._begun = bytes(self._begun), bytearray()
        return [last] if last else []

    def interrupt(self) -> None:
        """Asks it to stop, as Ctrl-C does."""
        self._program.interrupt()

    async def how_it_ended(self) -> str:
        """Return how the process ended, as part of a message; waits a moment for it to end."""
        code = await self._exit_code(_PATIENCE)
        how = "closed its output" if code is None else describe_exit(code)
        if code is not None and self._watch is not None:
            await asyncio.wait([self._watch], timeout=_PATIENCE)  # its last words
        return f"{how}{self.stderr_words()}"

    def end_turn(self) -> None:
        """Drop the lines of stderr so far: they explain no later turn."""
        self._tail = b""

    def stderr_words(self) -> str:
        """The end of its stderr since the last turn, after another message; empty for nothing."""
        tail = self._tail.decode("utf-8", "replace").strip()
        return stderr_words(tail)

    async def end(self, *, patient: bool) -> list[str]:
        """Closes its input, waits a little if `patient`, and ends all that it started.

        Who outlived it, in words for a message.
        """
        self.close_input()
        if patient:
            await self._exit_code(_PATIENCE)
        asyncio.get_running_loop().remove_reader(self._program)
        await asyncio.to_thread(self._program.end)
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        for transport in self._transports:
            _abort(transport)
        return self._program.left

    async def _exit_code(self, patience: float) -> int | None:
        return await asyncio.to_thread(self._program.wait, patience)

    def _take_news(self) -> None:
        self._program.take_news()
        if self._program.has_ended:
            asyncio.get_running_loop().remove_reader(self._program)
            for reader, pipe in self._pipes():
                if not pipe.closed:  # one that came to its end is closed, and all of it was read
                    reader.end_after(unread_bytes(pipe))

    def _pipes(self) -> tuple[tuple[_OutputReader, IO[bytes]], ...]:
        return (self._stdout, self._program.stdout), (self._stderr, self._program.stderr)

    async def _keep_stderr(self) -> None:
        while data := await self._stderr.read(_READ):
            self._tail = (self._tail + data)[-_TAIL - MARGIN :]


def _abort(transport: BaseTransport) -> None:
    if isinstance(transport, WriteTransport) and transport.get_write_buffer_size():
        transport.abort()  # it has no reader any more
    transport.close()
