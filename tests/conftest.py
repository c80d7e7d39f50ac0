"""No test asserts a time: machines are slow at times."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
