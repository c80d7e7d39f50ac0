"""The process above a program under test, which ends it with everything that it started.

It is run as a script (`child_process` does) and imports nothing of ours, so that it is there in a
few milliseconds. On Linux it adopts whoever loses its parent below it, also in a session of its
own: as long as `waitpid` knows of a child, something of the program is left. With a control group
the program is in it, and all of it is killed at once. Elsewhere it ends the program's group.

What it says, a line each: `started`, or `failed ERRNO`; `exited CODE` of the program (negative: the
signal); at the end `left PID WORDS` for each process that outlived the program, `stuck PID WORDS`
for one that cannot be ended, and `done`. What it is bid, a letter each: `i` interrupts the program,
`e` ends all; so does the end of whoever bids.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_GRACE_S = 0.5  # in which child processes of the program may end by themselves
_KILLING_S = 5.0  # after which what still runs cannot be ended by us
_LOOK_S = 0.01
_LONGEST = 4096  # bytes of a file below /proc


class Warden:
    """One program, started by `start`; `mind` returns when nothing of it is left."""

    def __init__(self, control: int, group: str = "") -> None:
        self._control = control
        self._group = group  # the folder of a control group, empty where there is none
        self._program = 0
        self._runs = False
        self._has_children = True

    def start(self, words: list[str]) -> bool:
        _set_process(_SUBREAPER, 1)
        failing, failed = os.pipe()
        self._program = os.fork()
        if not self._program:
            _become(words, failed, self._group)
        os.close(failed)
        reason = os.read(failing, 16)
        os.close(failing)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):  # the program's own: its end is the end of its pipes
            os.dup2(nowhere, descriptor)
        self._runs = not reason
        self._report(f"failed {reason.decode()}" if reason else "started")
        return self._runs

    def mind(self) -> None:
        """Until it is told to end, or its parent is gone."""
        woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes)
        news = select.poll()
        news.register(woken, select.POLLIN)
        news.register(self._control, select.POLLIN)
        while True:
            self._reap()
            ready = [descriptor for descriptor, _ in news.poll()]
            if woken in ready:
                os.read(woken, 1024)
            if self._control in ready and not self._obey():
                break
        self._end_all()
        self._report("done")

    def _obey(self) -> bool:
        """Whether the program may run on."""
        try:
            bid = os.read(self._control, 1)
        except OSError:
            return False
        if bid == b"i" and self._runs:
            _signal(-self._program, signal.SIGINT)
        return bid == b"i"

    def _end_all(self) -> None:
        if self._runs or not sys.platform.startswith("linux"):
            _signal(-self._program, signal.SIGKILL)
        self._wait(_GRACE_S)
        for pid in self._alive():
            self._report(f"left {pid} {process_words(pid)}")
        until = time.monotonic() + _KILLING_S
        while self._has_children and time.monotonic() < until:
            if self._group:
                write_existing(f"{self._group}/cgroup.kill", b"1")
            for pid in self._alive():
                _signal(pid, signal.SIGKILL)
            self._wait(_LOOK_S)
        for pid in self._alive():
            self._report(f"stuck {pid} {process_words(pid)}")
        with suppress(OSError):  # there is none, or whoever started us takes it away
            os.rmdir(self._group)  # noqa: PTH106  # no `pathlib` in so short a start

    def _wait(self, seconds: float) -> None:
        """Until there is no child, or so long."""
        until = time.monotonic() + seconds
        self._reap()
        while self._has_children and time.monotonic() < until:
            time.sleep(_LOOK_S)
            self._reap()

    def _reap(self) -> None:
        while self._has_children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._has_children = False
                return
            if not pid:
                return
            if pid == self._program:
                self._runs = False
                self._report(f"exited {os.waitstatus_to_exitcode(status)}")

    def _alive(self) -> list[int]:
        """All below us that are no zombies."""
        return _below(os.getpid()) if self._has_children else []

    def _report(self, line: str) -> None:
        with suppress(OSError):  # whoever bid is gone: everything is ended all the same
            os.write(self._control, line.encode("utf-8", "backslashreplace") + b"\n")


def _become(words: list[str], failed: int, group: str) -> None:
    """The child: leads a separate session, and ends with the warden."""
    code = 0
    try:
        if group:
            write_existing(f"{group}/cgroup.procs", b"0")  # it joins, and all that it starts
        os.setsid()
        _set_process(_PARENT_DEATH, signal.SIGKILL)
        # Python ignores the first two, and a shell the third for what it starts in the background.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(words[0], words)  # noqa: S606  # the user's own command
    except OSError as error:
        code = error.errno or 0
    finally:  # nothing goes on here as a second warden
        os.write(failed, b"%d" % code)
        os._exit(127)


def _set_process(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def write_existing(path: str, data: bytes) -> None:
    """Writes to a file of the system, where it is there."""
    with suppress(OSError):  # there is no such group
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)


def _signal(pid: int, number: int) -> None:
    """A process, or a group by its negative number."""
    with suppress(OSError):  # it is gone, or another user's: then it is reported as stuck
        os.kill(pid, number)


def _below(root: int) -> list[int]:
    """All processes below one, zombies excepted."""
    children: dict[int, list[int]] = {}
    dead = set()
    for name in _numbers("/proc"):
        # The name of a program is in brackets, and may hold any character.
        facts = _beginning(f"/proc/{name}/stat").rpartition(b")")[2].split()
        if len(facts) < 2:
            continue  # it has ended meanwhile
        children.setdefault(int(facts[1]), []).append(name)
        if facts[0] in (b"Z", b"X"):
            dead.add(name)
    found, look = [], [root]
    while look:
        each = look.pop()
        look += children.get(each, ())
        found += [each] if each != root and each not in dead else []
    return sorted(found)


def _numbers(folder: str) -> list[int]:
    try:
        with os.scandir(folder) as entries:
            return [int(each.name) for each in entries if each.name.isdigit()]
    except OSError:
        return []  # a system without /proc


def _beginning(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _LONGEST)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def process_words(pid: int) -> str:
    """The program's name, and its script's: other words may be keys."""
    program, script, *_ = [*_beginning(f"/proc/{pid}/cmdline").split(b"\0"), b"", b""]
    named = [program, script] if os.path.isfile(script) else [program]  # noqa: PTH113
    names = (each.rpartition(b"/")[2].decode("utf-8", "replace") for each in named)
    return " ".join(" ".join(names).split())


def main() -> None:
    """`warden.py DESCRIPTOR LOCALE GROUP WORD...`.

    LOCALE is empty where there is no LC_CTYPE, GROUP where there is no control group.
    """
    control, locale, group, *words = sys.argv[1:]
    if not locale:  # Python may have set it to start by itself (PEP 538)
        os.environ.pop("LC_CTYPE", None)
    os.set_inheritable(int(control), False)
    warden = Warden(int(control), group)
    if warden.start(words):
        warden.mind()


if __name__ == "__main__":
    main()
