"""An adapter as a process: its lines, its stderr, and its end.

Rule 1: what it writes is bounded, line by line and per case: beyond that it floods.
Rule 2: a line is waited for until a deadline; an adapter that does not keep it hangs.
Rule 3: whatever happens, it is ended together with everything that it started.
Rule 4: what it writes to stderr belongs to the case that is under way. One thread reads both pipes,
        stderr before the lines that came with it, so what precedes an answer is there with it.
Rule 5: it has ended when its process has, also where a child that it left running holds its pipes
        open: what it wrote itself is still read.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Final, Literal, Self

from msgspec import Struct

from conformance.core.errors import HarnessError
from conformance.core.excerpts import MARGIN, ending
from conformance.targets.child_process import (
    command_words,
    describe_exit,
    start_program,
    stderr_words,
    unread_bytes,
)
from conformance.targets.passed_environment import passed_environment

AdapterFaultKind = Literal["hung", "crashed", "flooding"]
_READ: Final = 65_536
_MOST_READS: Final = 64  # of stderr at one go
_LOOK_S: Final = 0.2


class AdapterFault(HarnessError):  # noqa: N818  # it is one of three, and says which
    """The adapter is of no use any more: `kind` says why."""

    def __init__(self, kind: AdapterFaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: AdapterFaultKind = kind


class AdapterBounds(Struct, frozen=True):
    """Seconds and bytes that an adapter may take.

    `start` is for the introduction, `grace` what comes on top of a case's deadline, `first` on top
    of that of the first case, in which many clients load; `stop` is for its end; `line` and `case`
    bound what it writes, `tail` what is kept of its stderr in a case.
    """

    start: float = 60.0
    grace: float = 5.0
    first: float = 25.0
    stop: float = 5.0
    line: int = 4 * 1024 * 1024
    case: int = 64 * 1024 * 1024
    tail: int = 4096
    ahead: int = 4096  # lines that are read before anybody asks


class AdapterProcess:
    """A running adapter; a context manager that ends it. Raises UsageError if it cannot start.

    `passed` are variables of our environment that it gets in addition to the usual ones.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        bounds: AdapterBounds | None = None,
        passed: Sequence[str] = (),
    ) -> None:
        self.bounds = bounds or AdapterBounds()
        words = command_words(command, "--client")
        self._program = start_program(words, passed_environment(passed), "--client")
        self._lines: queue.Queue[bytes | None] = queue.Queue(self.bounds.ahead)
        self._flood = ""
        self._written = 0
        self._stderr = b""
        self._is_ended = False
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin_case(self) -> None:
        """Begin a new case: output from now on belongs to it."""
        self._written = 0
        self._stderr = b""

    def send_line(self, line: bytes) -> None:
        """Writes a line; where it no longer reads, the next `next_line` says why."""
        with contextlib.suppress(OSError, ValueError):
            self._program.stdin.write(line)
            self._program.stdin.flush()

    def next_line(self, until: float) -> bytes:
        """The next line, waited for until then on the monotonic clock. Raises AdapterFault."""
        try:
            line = self._lines.get(timeout=max(0.0, until - monotonic()))
        except queue.Empty:
            why = "the adapter hangs: no answer in time (--timeout gives a case more)"
            raise AdapterFault("hung", f"{why}{self.stderr_tail()}") from None
        if line is not None:
            return line
        if self._flood:
            raise AdapterFault("flooding", f"the adapter floods: {self._flood}{self.stderr_tail()}")
        raise self._crash_fault()

    def unrequested_line(self) -> bytes | None:
        """An unsolicited line, if there is one."""
        with contextlib.suppress(queue.Empty):
            return self._lines.get_nowait()
        return None

    @property
    def stderr(self) -> str:
        """The end of its stderr in this case."""
        text = self._stderr.decode("utf-8", "replace").strip()
        return ending(text, self.bounds.tail, "")

    def stderr_tail(self) -> str:
        """The end of its stderr in this case, for a message; empty where it wrote nothing."""
        return stderr_words(self.stderr)

    @property
    def left(self) -> list[str]:
        """Who outlived it, once it has ended, in words for a message."""
        return self._program.left

    def end(self) -> bytes | None:
        """Closes its stdin, waits, and ends all that it started; a line that was left."""
        with contextlib.suppress(OSError, ValueError):
            self._program.stdin.close()
        self._program.wait(self.bounds.stop if not self._flood else 0.1)
        self._reader.join(1.0)
        line = self.unrequested_line()
        self.kill()
        return line

    def kill(self) -> None:
        """Ends it at once, with everything that it started; once."""
        if self._is_ended:
            return
        self._is_ended = True
        self._program.end()
        while self.unrequested_line() is not None:
            pass  # a reader that waits for room goes on
        self._reader.join(1.0)
        for pipe in (self._program.stdin, self._program.stdout, self._program.stderr):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()

    def _crash_fault(self) -> AdapterFault:
        code = self._program.wait(1.0)
        self._reader.join(1.0)
        how = "closed its stdout" if code is None else describe_exit(code)
        return AdapterFault("crashed", f"the adapter {how}{self.stderr_tail()}")

    def _read_output(self) -> None:
        """Reads both pipes up to their ends, or to its own, or until it floods."""
        begun = bytearray()
        with contextlib.suppress(OSError, ValueError):
            self._read_running(begun)
            return
        self._lines.put(None)  # the pipes were closed under us

    def _read_running(self, begun: bytearray) -> None:
        stdout, stderr = self._program.stdout.fileno(), self._program.stderr.fileno()
        with selectors.DefaultSelector() as pipes:
            for each in (stdout, stderr, self._program.fileno()):
                pipes.register(each, selectors.EVENT_READ)
            while stdout in pipes.get_map() or stderr in pipes.get_map():
                # Who waits for its end may take the news of it.
                ready = {key.fd for key, _ in pipes.select(_LOOK_S)}
                if self._program.fileno() in ready:
                    self._program.take_news()
                if self._program.has_ended:
                    self._read_rest(begun, is_open=stdout in pipes.get_map())
                    return
                data = _read_pipe(stdout) if stdout in ready else b""
                self._read_stderr(pipes, stderr)
                if stdout in ready and not self._take_output(begun, data):
                    pipes.unregister(stdout)

    def _read_rest(self, begun: bytearray, *, is_open: bool) -> None:
        """Read its output before its end, and nothing that others may add (rule 5)."""
        stdout, stderr = self._program.stdout, self._program.stderr
        left = unread_bytes(stderr)
        while left and (data := _read_pipe(stderr.fileno(), left)):
            self._keep_stderr(data)
            left -= len(data)
        left = unread_bytes(stdout) if is_open else 0
        while left and (data := _read_pipe(stdout.fileno(), left)):
            left -= len(data)
            if not self._take_output(begun, data):
                return
        if is_open:
            self._take_output(begun, b"")

    def _take_output(self, begun: bytearray, data: bytes) -> bool:
        """Whether more may come; no data is the end."""
        self._take_lines(begun, data)
        if data and not self._is_flooding(len(begun)):
            return True
        self._lines.put(None)
        return False

    def _take_lines(self, begun: bytearray, data: bytes) -> None:
        """Hands over whole lines; no data is the end, which ends the last one, too."""
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._lines.put(bytes(begun) + part)
            begun.clear()
        begun += rest
        self._written += len(data)
        if not data and begun:
            self._lines.put(bytes(begun))

    def _is_flooding(self, begun: int) -> bool:
        if begun > self.bounds.line:
            self._flood = f"a line of more than {self.bounds.line} bytes"
        elif self._written > self.bounds.case:
            self._flood = f"more than {self.bounds.case} bytes for one case"
        return bool(self._flood)

    def _read_stderr(self, pipes: selectors.BaseSelector, stderr: int) -> None:
        """Keeps what is there of its stderr, from the end up to the bound."""
        for _ in range(_MOST_READS):
            if not any(key.fd == stderr for key, _ in pipes.select(0)):
                return
            data = _read_pipe(stderr)
            if not data:
                pipes.unregister(stderr)
                return
            self._keep_stderr(data)

    def _keep_stderr(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-self.bounds.tail - MARGIN :]


def _read_pipe(pipe: int, most: int = _READ) -> bytes:
    try:
        return os.read(pipe, min(most, _READ))
    except (OSError, ValueError):  # it was closed under us, at the end
        return b""
