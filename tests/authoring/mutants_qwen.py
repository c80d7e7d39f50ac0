"""Mutants of Claude's lines with what Qwen Code does, under profiles that do not permit it."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_claude import INIT, SUITE, TEXT
from tests.authoring.pieces import Message, at


def of_second_block(message: Message) -> bool:
    return bool(at(message.payload, "event.index") == 1)


MUTANTS: Final = (
    Mutant(
        f"{SUITE}/index-own",
        TEXT,
        (
            edits.change(INIT, "qwen_code_version", "0.15.10"),
            edits.change_all(of_second_block, "event.index", 0),
        ),
    ),
)
