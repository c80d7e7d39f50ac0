"""Servers of the live tests: one at a time, a module each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import systems
from tests.live.systems import Live


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a server's files and its log."""
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
def reference(work: Path) -> Iterator[Live]:
    with systems.reference(work) as live:
        yield live


@pytest.fixture(scope="module")
def mlx(work: Path) -> Iterator[Live]:
    with systems.mlx_lm(work) as live:
        yield live


@pytest.fixture(scope="module")
def ogx_on_mlx(work: Path) -> Iterator[Live]:
    with systems.ogx_on_mlx(work) as live:
        yield live
