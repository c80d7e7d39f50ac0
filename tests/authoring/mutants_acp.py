"""Mutants of `wire/acp`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.acp import chunks
from tests.authoring.edits import Where
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import at

TEXT: Final = "acp/agent/thought-then-message"
SUITE: Final = "wire/acp"
UPDATE: Final = "params.update"
WARNING: Final = (
    "Model metadata not found. Defaulting to fallback metadata; this can degrade performance."
)


def updates_of(kind: str) -> Where:
    """Updates of that kind."""
    return lambda message: bool(at(message.payload, f"{UPDATE}.sessionUpdate") == kind)


THOUGHT: Final = updates_of("agent_thought_chunk")

MUTANTS: Final = (
    Mutant(
        f"{SUITE}/diagnostics-apart",
        TEXT,
        tuple(edits.insert(piece, THOUGHT) for piece in chunks("message", WARNING)),
    ),
)
