"""A client of npm: its adapter is asked as the harness asks it, and reads from a URL of data."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from tests.adapters.harness import Event, Failed


class NodeClient:
    """One process for many streams. `folder` holds `node_modules`."""

    def __init__(self, adapter: Path, folder: Path, dialect: str) -> None:
        self._dialect = dialect
        self._process = subprocess.Popen(
            ["node", str(adapter)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "CLIENTS_FOLDER": str(folder)},
            encoding="utf-8",
        )
        self._ask({"cmd": "start", "version": 1})
        self.version: str = self._answer()["implementation"]["version"]

    def read(self, body: bytes) -> Iterator[Event]:
        """The events of one stream. Raises Failed where the client says that it failed."""
        url = "data:text/event-stream;base64," + b64encode(body).decode()
        asked = [{"id": "u", "role": "user", "content": "Hi.", "parts": []}]
        self._ask(
            {
                "cmd": "stream",
                "seq": "1",
                "dialect": self._dialect,
                "base_url": url,
                "model": "m",
                "messages": asked,
                "options": {},
                "deadline_ms": 5000,
            }
        )
        while "end" not in (answer := self._answer()):
            yield answer["event"]
        if answer["end"]["how"] != "completed":
            raise Failed(answer["end"].get("message", ""))

    def _ask(self, command: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the adapter has ended"
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ask({"cmd": "stop"})
        self._process.communicate(timeout=30)
