"""Programs of the user that are under test: how they are started, ended and told of.

Each leads a group of its own, so that its children end with it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.core.errors import UsageError

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


def start_program(
    words: Sequence[str], environment: Mapping[str, str], option: str
) -> subprocess.Popen[bytes]:
    """Starts a program, with pipes. Raises UsageError where that is not possible."""
    try:
        return subprocess.Popen(  # noqa: S603  # the user's own command
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as err:
        reason = (getattr(err, "strerror", None) or str(err)).lower()
        raise UsageError(f"{option} {words[0]!r} cannot be started: {reason}") from err


def without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, but never a proxy between the program and this machine."""
    names = ("NO_PROXY", "no_proxy")
    bypassed = {name: ",".join(filter(None, (environment.get(name), _LOCAL))) for name in names}
    return {**environment, **bypassed}


def kill_group(program: subprocess.Popen[bytes]) -> None:
    """Ends a program with its children: the group lives as long as any, also after its leader."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        program.kill()


def describe_exit(code: int) -> str:
    """How a program ended, in words for a message."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended with {signal.Signals(-code).name}"
    return f"ended with exit status {code}"


def stderr_words(tail: str) -> str:
    """The end of a program's stderr, behind another message; empty where it said nothing."""
    return f"; stderr ends: {tail}" if tail else ""
