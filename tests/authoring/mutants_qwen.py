"""Mutants of runs in which every block is numbered 0, under profiles that do not permit it."""

from __future__ import annotations

from typing import Final

from tests.authoring.mutant import Mutant
from tests.authoring.mutants_claude import SUITE

TEXT: Final = "claude.stream-json/qwen-code/thinking-then-text"

MUTANTS: Final = (
    Mutant(
        f"{SUITE}/index-own",
        TEXT,
        also=(f"{SUITE}/delta-present", f"{SUITE}/signature-present"),
        facts={"profile": "strict"},
    ),
)
