"""No test asserts a time: machines are slow at times."""

from __future__ import annotations

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: one that began last would leave the other workers idle."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
