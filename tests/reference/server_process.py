"""The reference server as a process, for tests that ask it; without a client of anybody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MODEL = "tiny-think"
KEY = "open sesame"
CALCULATE = "Use the calculator: what is 2 + 3?"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
}


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """The base URL of a server that runs as long as the block does."""
    command = [sys.executable, "-m", "reference_impl.server", "--port", "0", *arguments]
    command += ["--api-key-env", "REFERENCE_KEY"]
    known = {**os.environ, "REFERENCE_KEY": KEY}
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=known)
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready.startswith("READY http://127.0.0.1:")
        yield ready.split()[1]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert process.stdout is not None
        process.stdout.close()
