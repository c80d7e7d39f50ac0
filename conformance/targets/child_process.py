"""Programs of the user that are under test: how they start, end, and are reported.

Each is the child of a process of ours (`warden`), which ends it with everything that it started:
children in separate sessions, children whose parents have ended, and also if we are killed. If
that process is killed itself, a control group ends the rest, or a note warns of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import IO, Final, cast

from conformance.core.errors import UsageError
from conformance.core.excerpts import ending
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets import warden
from conformance.targets.control_group import ControlGroup

_READ: Final = 65_536
_STARTS_S: Final = 60.0  # after which the process above a program is taken to hang
_ENDS_S: Final = 15.0  # that it may take to end everything
_UNKNOWN: Final = "what it started, if anything (the process above it was killed)"
_MOST_NAMED: Final = 5
_LAST_WORDS: Final = 300  # characters of what a program says at last
_LOCAL: Final = "127.0.0.1,localhost,::1"


def command_words(command: str | Sequence[str], option: str) -> list[str]:
    """The words of a command line. Raises UsageError, in the name of an option, for none."""
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as err:
        raise UsageError(f"{option} {command!r} is no command: {str(err).lower()}") from err
    if not words:
        raise UsageError(f"{option} needs a command")
    return words


class Program:
    """A running program with its pipes. Methods may be called from any thread.

    `fileno` is readable where there is news of it, which `take_news` takes: a caller learns of its
    end without waiting for the end of its pipes. `left` says who outlived it, after `end`.
    """

    def __init__(
        self,
        above: subprocess.Popen[bytes],
        control: socket.socket,
        group: ControlGroup | None = None,
    ) -> None:
        self.stdin = cast("IO[bytes]", above.stdin)
        self.stdout = cast("IO[bytes]", above.stdout)
        self.stderr = cast("IO[bytes]", above.stderr)
        self.returncode: int | None = None
        self.has_ended = False  # the program, not what it started
        self.left: list[str] = []
        self._failure = ""  # why it was not started: a number of the system
        self._above = above
        self._control = control
        self._group = group
        self._is_over = False  # nothing of it is left, by the word of who is above it
        self._received = bytearray()
        self._is_done = self._is_started = False
        self._lock = Lock()

    def fileno(self) -> int:
        """The descriptor that is readable where there is news."""
        return self._control.fileno()

    def take_news(self) -> None:
        """Take the state of the process, as far as it is known."""
        with self._lock:
            while not self._is_done:
                try:
                    received = self._control.recv(_READ, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    return
                except OSError:
                    received = b""
                self._received += received
                *lines, self._received[:] = self._received.split(b"\n")
                for line in lines:
                    self._take_line(line.decode("utf-8", "replace"))
                if not received:
                    self.has_ended = self._is_done = True

    def wait(self, seconds: float) -> int | None:
        """How it ended; None where it runs on, or that is unknown."""
        self._listen_until(lambda: self.has_ended, seconds)
        return self.returncode

    def why_not_started(self) -> str:
        """Waits until it is started; else it is ended, and this says why."""
        self._listen_until(lambda: self._is_started or self._is_done, _STARTS_S)
        if self._is_started:
            return ""
        number = int(self._failure or 0)
        self.end()
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()
        return os.strerror(number).lower() if number else "it was ended before"

    def interrupt(self) -> None:
        """Asks it and its group to stop, as Ctrl-C does."""
        self._bid(b"i")

    def end(self) -> None:
        """Ends it with all that it started; a second call does nothing."""
        self._bid(b"e")
        self._listen_until(lambda: self._is_done, _ENDS_S)
        self._above.kill()
        self._above.wait()
        self.take_news()
        self._control.close()
        self._end_group()

    def _end_group(self) -> None:
        """End the processes that are left where the parent of the program was killed."""
        group, self._group = self._group, None
        left = [_UNKNOWN] if group is None else group.end()
        if not self._is_over:
            self.left += left
        self._is_over = True

    def _bid(self, letter: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(letter)

    def _listen_until(self, is_enough: Callable[[], bool], seconds: float) -> None:
        until = monotonic() + seconds
        self.take_news()
        while not is_enough() and (left := until - monotonic()) > 0:
            news = select.poll()
            news.register(self._control, select.POLLIN)
            news.poll(left * 1000)
            self.take_news()

    def _take_line(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        match word:
            case "started":
                self._is_started = True
            case "failed":
                self._failure = rest
            case "exited":
                self.has_ended, self.returncode = True, int(rest)
            case "left" | "stuck":
                pid, _, words = rest.partition(" ")
                how = " (it cannot be ended)" if word == "stuck" else ""
                self.left.append(f"{words or 'a process'} [{pid}]{how}")
            case "done":
                self._is_done = self._is_over = True


def start_program(words: Sequence[str], environment: Mapping[str, str], option: str) -> Program:
    """Starts a program, with pipes. Raises UsageError where that is not possible."""
    ours, theirs = socket.socketpair()
    locale = environment.get("LC_CTYPE", "")
    group = ControlGroup.make()
    script = [sys.executable, "-I", "-S", warden.__file__, str(theirs.fileno()), locale]
    script.append("" if group is None else str(group.folder))
    try:
        with theirs:
            above = subprocess.Popen(  # noqa: S603  # the user's own command
                [*script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
    except (OSError, ValueError) as err:
        ours.close()
        if group is not None:
            group.end()
        reason = (getattr(err, "strerror", None) or str(err)).lower()
        raise _not_started(words, option, reason) from err
    program = Program(above, ours, group)
    if reason := program.why_not_started():
        raise _not_started(words, option, reason)
    return program


def _not_started(words: Sequence[str], option: str, reason: str) -> UsageError:
    return UsageError(f"{option} {words[0]!r} cannot be started: {reason}")


def without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, but never a proxy between the program and this machine."""
    names = ("NO_PROXY", "no_proxy")
    bypassed = {name: ",".join(filter(None, (environment.get(name), _LOCAL))) for name in names}
    return {**environment, **bypassed}


def leftover_notes(who: str, left: Sequence[str]) -> list[str]:
    """A note on the processes that outlived a program; none where no process did."""
    if not left:
        return []
    named = ", ".join(left[:_MOST_NAMED])
    more = f" and {len(left) - _MOST_NAMED} more" if left[_MOST_NAMED:] else ""
    programs = count(len(left), "program")
    return [visible(f"the {who} left {programs} running, which we ended: {named}{more}")]


def unread_bytes(pipe: IO[bytes]) -> int:
    """How many bytes are in a pipe: of a program that has ended, all that it will ever say."""
    size = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(size, sys.byteorder)


def describe_exit(code: int) -> str:
    """How a program ended, in words for a message."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended with {signal.Signals(-code).name}"
    return f"ended with exit status {code}"


def stderr_words(tail: str) -> str:
    """The last lines of a program's stderr, after another message; empty where it wrote nothing.

    The last line of a traceback says what went wrong, so what is too long loses its beginning.
    """
    first, *more = ending(tail.strip(), _LAST_WORDS).splitlines() or [""]
    whole = not first.startswith("…") or not more
    lines = (line.strip() for line in ([first, *more] if whole else more))
    words = visible(" | ".join(filter(None, lines)))
    return f"; stderr ends: {words}" if words else ""
