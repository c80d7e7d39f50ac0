"""Everything that ships: good streams, and mutants of them.

Streams are rows of `streams/*.yaml`, mutants rows of `mutants/*.yaml`. Streams that need code are
the `drafts()` of a module `*_streams`, which is found by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tests.authoring import clients, mutant_rows, stream_rows
from tests.authoring.draft import Draft


@cache
def good() -> tuple[Draft, ...]:
    """Streams that keep every rule of their profile."""
    with_code = (draft for module in _modules("*_streams") for draft in module.drafts())
    streams = (*stream_rows.drafts(), *with_code)
    return (*streams, *clients.drafts({draft.name: draft for draft in streams}))


@cache
def mutants() -> tuple[Draft, ...]:
    """One mutant per rule, and the one of the demonstration."""
    drafts = {draft.name: draft for draft in good()}
    return tuple(mutant.draft(drafts) for mutant in mutant_rows.mutants())


def _modules(named: str) -> Iterator[ModuleType]:
    """The modules beside this one whose names fit, in the order of the alphabet."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    return (import_module(f"tests.authoring.{n}") for n in names if fnmatchcase(n, named))
