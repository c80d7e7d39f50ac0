"""pyarrow, imported when the first of it is needed: the base installation has none."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from conformance.core.errors import UsageError

INSTALL: Final = "pip install 'reasoning-conformance[corpus]'"


def load_module(name: str) -> Any:
    """A module of an engine or of pyarrow. Raises UsageError where it is not installed."""
    try:
        return import_module(name)
    except ImportError as err:
        package = name.partition(".")[0]
        raise UsageError(f"{package} is not installed", hint=INSTALL) from err
