"""What clients of npm lose, or refuse, is found, except what `permitted.yaml` allows.

$CLIENTS_FOLDER holds `node_modules`: `npm install` of tests/adapters/package.json. Of another
release of a package, name another folder and run it again.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.oracles.node_client import NodeClient
from tests.oracles.silent_edits import lost_unseen, permitted_in_vain, tried_edits

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
