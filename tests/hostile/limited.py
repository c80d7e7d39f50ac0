"""The command line as a process of its own, within limits that the system keeps (Linux)."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

START_S: Final = 8  # of processor time that a command may take before it does anything
START_MB: Final = 160  # of data that a command may have before it does anything
_PATIENCE_S: Final = 900.0  # of the clock: the machine may be busy


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """What a process came to; `code` is negative where a signal ended it."""

    code: int
    out: str
    err: str

    @property
    def output(self) -> str:
        return self.out + self.err


def run_limited(
    arguments: Sequence[str],
    *,
    seconds: int = START_S,
    megabytes: int = START_MB,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> EndedProcess:
    """Runs `conformance` until it ends, or has used `seconds` of processor time.

    It may have `megabytes` of data; more is an error inside it.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance", *arguments],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **(env or {})},
        )
        limit_process(process.pid, seconds, megabytes)
        assert process.stdin is not None
        with process.stdin as pipe:
            pipe.write(stdin)
        code = wait_limited(process)
        texts = [_text_of(file.fileno()) for file in (out, err)]
    return EndedProcess(code, *texts)


def limit_process(pid: int, seconds: int, megabytes: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.prlimit(pid, resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def wait_limited(process: subprocess.Popen[bytes]) -> int:
    """The exit code. A process that only waits is killed, late: the machine may be busy."""
    clock = threading.Timer(_PATIENCE_S, process.kill)
    clock.start()
    try:
        return process.wait()
    finally:
        clock.cancel()


def _text_of(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode("utf-8", "backslashreplace")
