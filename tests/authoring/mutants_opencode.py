"""Mutants of `wire/opencode-run`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.edits import Step
from tests.authoring.mutant import Mutant
from tests.authoring.opencode import run, said, step, thought
from tests.authoring.opencode_streams import FERRY_TEXT

_BASES: Final = "opencode.run/opencode"
TEXT, CALLS, FAILED = "reasoning-then-text", "tool-then-text", "failed-in-step"


def _mutant(
    rule: str, base: str, *steps: Step, name: str = "", also: tuple[str, ...] = ()
) -> Mutant:
    suite = "wire/opencode-run"
    named = f"{suite}/{name}" if name else ""
    return Mutant(f"{suite}/{rule}", f"{_BASES}/{base}", steps, also=also, name=named)


def _asked_again(pieces: Any) -> Any:
    """The model does not say why it stopped, and is asked once more."""
    first = step([thought("So."), said(FERRY_TEXT)], "unknown")
    return run([*first, *step([said(FERRY_TEXT)])])[: len(pieces) + 4]


MUTANTS: Final = (
    # What came before is lost.
    _mutant(
        "begun", FAILED, lambda pieces: list(pieces[1:2]), also=("wire/opencode-run/step-first",)
    ),
    _mutant("run-ended", CALLS, lambda pieces: list(pieces[:6]), name="ended-behind-calls"),
    _mutant("refusal-answered", "refused-and-told", lambda pieces: list(pieces[:4])),
    _mutant("answered-once", TEXT, _asked_again),
)
