"""Mutants of runs of Qwen Code under the strict profile."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_claude import SUITE
from tests.authoring.pieces import Message, at

NUMBERED: Final = "claude.stream-json/qwen-code/numbered"


def of_second_block(message: Message) -> bool:
    return bool(at(message.payload, "event.index") == 1)


MUTANTS: Final = (
    Mutant(f"{SUITE}/index-own", NUMBERED, (edits.change_all(of_second_block, "event.index", 0),)),
)
