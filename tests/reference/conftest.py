"""An engine of a small random model, and a server for all clients that ask one of a plain kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.reference.server_process import server

if TYPE_CHECKING:
    from reference_impl.server.engine import Engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.reference.engine_models import OPENED, save_model  # noqa: PLC0415 - loads torch

    return save_model(tmp_path_factory.mktemp("models") / "random", OPENED)


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    from reference_impl.server.engine import Engine  # noqa: PLC0415 - as above
    from tests.reference.engine_reading import BATCH  # noqa: PLC0415 - as above

    made = Engine.load(folder, max_batch=BATCH, device="cpu")
    yield made
    made.close()


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server process; to start one takes seconds."""
    port_file = tmp_path_factory.mktemp("server") / "port"
    with server("--port-file", str(port_file)) as base:
        assert base.endswith(f":{port_file.read_text().strip()}")
        yield base
