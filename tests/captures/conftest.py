"""Real recordings from outside the repository; without the folder these tests skip visibly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def captures() -> Path:
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    return Path(folder)
