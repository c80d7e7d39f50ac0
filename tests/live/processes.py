"""Processes of a live test: started, ready, and ended with everything that they started."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

ROOT: Final = Path(__file__).parents[2]
TOOL: Final = (sys.executable, "-m", "conformance")
SERVER: Final = (sys.executable, "-m", "reference_impl.server")
CLIENT: Final = (sys.executable, "-m", "reference_impl.client")
PATIENCE: Final = 120.0  # seconds until a server is ready
FAREWELL: Final = 15.0  # seconds between the polite signal and the other one
BETWEEN: Final = 0.1


class NotReadyError(Exception):
    """A process ended, or said nothing, before it was ready."""


@dataclass(frozen=True, slots=True)
class Started:
    """What to start: a command, where it runs and what it says, what tells that it is ready.

    With `health` a GET of that URL is 200; without, the first line of stdout is `READY <url>`.
    """

    command: Sequence[str]
    log: Path
    health: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = ROOT


@contextmanager
def running(start: Started, patience: float = PATIENCE) -> Iterator[str]:
    """What came after READY, or the health URL. Raises NotReadyError with the end of the log."""
    with start.log.open("wb") as log:
        process = subprocess.Popen(
            start.command,
            cwd=start.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **start.environment},
            start_new_session=True,
        )
    try:
        yield _ready(process, start, patience)
    finally:
        _end(process)


def _ready(process: subprocess.Popen[bytes], start: Started, patience: float) -> str:
    until = time.monotonic() + patience
    while time.monotonic() < until and process.poll() is None:
        found = _healthy(start.health) if start.health else _said_ready(start.log)
        if found:
            return found
        time.sleep(BETWEEN)
    tail = start.log.read_text(errors="replace")[-2000:]
    raise NotReadyError(f"not ready: {shlex.join(start.command)}\n{tail}")


def _healthy(url: str) -> str:
    try:
        answer = httpx.get(url, timeout=5, trust_env=False)
    except httpx.HTTPError:
        return ""
    return url if answer.status_code == httpx.codes.OK else ""


def _said_ready(log: Path) -> str:
    for line in log.read_text(errors="replace").splitlines(keepends=True):
        if line.startswith("READY ") and line.endswith("\n"):
            return line.split()[1]
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and its children, by their group: servers start workers."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def free_port() -> int:
    """A port that nobody listens on; for servers that cannot choose one themselves."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        number: int = held.getsockname()[1]
        return number
