"""An engine of a small random model, one for each module that has no engine of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
