"""Mutants of `wire/opencode-serve`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.edits import Step
from tests.authoring.mutant import Mutant
from tests.authoring.opencode_bus import Session
from tests.authoring.opencode_bus_streams import ASKED, OPENS

_SUITE: Final = "wire/opencode-serve"
TEXT, CALLS = "thought-then-text", "tool-then-text"


def _mutant(
    rule: str, base: str, *steps: Step, name: str = "", also: tuple[str, ...] = ()
) -> Mutant:
    named = f"{_SUITE}/{name}" if name else ""
    base = f"opencode.serve/opencode/{base}"
    return Mutant(f"{_SUITE}/{rule}", base, steps, also=also, name=named)


def _asked_again(pieces: Any) -> Any:
    """The model does not say why it stopped, and is asked once more."""
    talk = Session()
    events = [*talk.asked(ASKED), *talk.begun(), *talk.text(OPENS), *talk.over("unknown")]
    more = [*talk.begun(), *talk.text("From six on."), *talk.over(), *talk.idle()]
    return [*pieces[:1], *events, *more]


MUTANTS: Final = (_mutant("answered-once", TEXT, _asked_again),)
