"""Mutants of `wire/codex-app-server`."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Where
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import at

TEXT: Final = "codex.app-server/codex/summary-then-message"
SUITE: Final = "wire/codex-app-server"


def sent(method: str, item: str = "") -> Where:
    """Notifications of that method, and if named only those about items of a type."""

    def where(message: object) -> bool:
        payload = getattr(message, "payload", None)
        if item and at(payload, "params.item.type") != item:
            return False
        return bool(at(payload, "method") == method)

    return where


THOUGHT: Final = sent("item/completed", "reasoning")

MUTANTS: Final = (
    # Of several parts the first one is kept.
    Mutant(
        f"{SUITE}/parts-kept",
        TEXT,
        (edits.change(THOUGHT, "params.item.summary", lambda parts: parts[:1]),),
    ),
)
