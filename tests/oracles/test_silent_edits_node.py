"""What clients of npm lose, or refuse, is found, except what `permitted.yaml` allows.

$CLIENTS_FOLDER holds `node_modules`: `npm install` of tests/adapters/package.json. Of another
release of a package, name another folder and run it again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import pytest

from tests.adapters.harness import Event, Failed
from tests.oracles.silent_edits import lost_unseen, permitted_in_vain, tried_edits


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


pytestmark = pytest.mark.live

TESTS: Final = Path(__file__).parents[1]


class NpmClient(NamedTuple):
    """A package with the adapter that reads a dialect with it."""

    dialect: str
    package: str
    adapter: Path


CLIENTS: Final = (
    NpmClient("agui", "@ag-ui/client", TESTS / "adapters" / "ag_ui_client.mjs"),
    NpmClient("vercel.ui", "ai", TESTS / "adapters" / "ui_message_sdk.mjs"),
    NpmClient("acp", "@agentclientprotocol/sdk", TESTS / "oracles" / "acp_client.mjs"),
)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda each: each.package)
def test_what_the_client_loses_is_found(client: NpmClient) -> None:
    folder = Path(os.environ.get("CLIENTS_FOLDER", ""))
    if shutil.which("node") is None or not (folder / "node_modules" / client.package).is_dir():
        pytest.skip(f"there is no node, or no node_modules/{client.package} in CLIENTS_FOLDER")
    with NodeClient(client.adapter, folder, client.dialect) as process:
        tried = list(tried_edits(client.dialect, process.read))
    assert any(each.loses for each in tried)
    assert lost_unseen(client.dialect, tried) == []
    assert permitted_in_vain(client.dialect, tried) == []
