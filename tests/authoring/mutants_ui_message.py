"""Mutants of `wire/ui-message`: starts, ends, ids, steps and the end of a UI message."""

from __future__ import annotations

from typing import Final

from tests.authoring.mutant import Mutant
from tests.authoring.pieces import DONE, Message
from tests.authoring.ui_message import part

TEXT: Final = "vercel.ui/ai-sdk/thinking-then-text"
SUITE: Final = "wire/ui-message"


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/answer-present",
        TEXT,
        (lambda _pieces: [Message(part("data-state", data={})), DONE],),
        also=(f"{SUITE}/finish-present",),
    ),
)
