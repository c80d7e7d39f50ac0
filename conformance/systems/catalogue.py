"""Which tables there are: the shipped ones by name, the user's own by path."""

from __future__ import annotations

from pathlib import Path

from conformance.core.errors import UsageError
from conformance.core.shipped import specs
from conformance.rules.node import nearest
from conformance.systems.load import load_system
from conformance.systems.model import System

# The table of what contradicts what lies beside the systems.
_NO_SYSTEM = frozenset({"contradictions"})


def names() -> tuple[str, ...]:
    """Names of the shipped tables, sorted."""
    found = (path.stem for path in (specs() / "systems").glob("*.yaml"))
    return tuple(sorted(name for name in found if name not in _NO_SYSTEM))


def find_system(name: str) -> System:
    """The table of a shipped system, or the one in a file. Raises UsageError for neither."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return load_system(path)
    if name not in names():
        hint = nearest(name, names()) or f"there are: {', '.join(names())}"
        raise UsageError(f"no system {name!r}, neither shipped nor a file", hint=hint)
    return load_system(specs() / "systems" / f"{name}.yaml")
