"""Mutants of talks that no scenario arranged: what goes back is lost, altered or moved."""

from __future__ import annotations

from typing import Final

from tests.authoring.mutant import Mutant
from tests.authoring.turns import asks

PRESERVED: Final = "anthropic.messages/anthropic/preserved-talk"


MUTANTS: Final = (
    # A server of tools answered at last.
    Mutant(
        "history/messages/tools-kept",
        PRESERVED,
        turns={3: asks("tools", lambda tools: [*tools, {**tools[0], "name": "read_tables"}])},
    ),
)
