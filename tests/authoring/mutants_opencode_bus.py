"""Mutants of `wire/opencode-serve`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Step, Where, typed
from tests.authoring.mutant import Mutant
from tests.authoring.opencode_bus import Session
from tests.authoring.opencode_bus_streams import ASKED, OPENS
from tests.authoring.pieces import Message, at

_SUITE: Final = "wire/opencode-serve"
TEXT, CALLS = "thought-then-text", "tool-then-text"
MESSAGE: Final = "message.updated"


def _mutant(
    rule: str, base: str, *steps: Step, name: str = "", also: tuple[str, ...] = ()
) -> Mutant:
    named = f"{_SUITE}/{name}" if name else ""
    base = f"opencode.serve/opencode/{base}"
    return Mutant(f"{_SUITE}/{rule}", base, steps, also=also, name=named)


def _part(kind: str, *, ended: bool = False) -> Where:
    """Statements of a part of the assistant; of texts those that begin it, or end it."""

    def where(message: Message) -> bool:
        part = at(message.payload, "properties.part") or {}
        is_ended = "end" in part.get("time", {})
        return part.get("type") == kind and is_ended is ended and part.get("text") != ASKED

    return where


def _changed(where: Where, path: str, value: Any, nth: int = 0) -> Step:
    return edits.change(where, f"properties.{path}", value, nth)


def _removed(where: Where, path: str) -> Step:
    return edits.remove(where, f"properties.{path}")


def _asked_again(pieces: Any) -> Any:
    """The model does not say why it stopped, and is asked once more."""
    talk = Session()
    said = [*talk.asked(ASKED), *talk.begun(), *talk.text(OPENS), *talk.over("unknown")]
    more = [*talk.begun(), *talk.text("From six on."), *talk.over(), *talk.idle()]
    return [*pieces[:1], *said, *more]


def _said_when_idle(pieces: Any) -> Any:
    """The text begins when the session is idle."""
    begins, ends = edits.place(pieces, WRITTEN), edits.place(pieces, WRITTEN_END) + 1
    return [*pieces[:begins], *pieces[ends:], *pieces[begins:ends]]


THOUGHT, THOUGHT_END = _part("reasoning"), _part("reasoning", ended=True)
WRITTEN, WRITTEN_END = _part("text"), _part("text", ended=True)

MUTANTS: Final = (
    _mutant("event-fields", TEXT, _removed(THOUGHT, "part.text"), name="text-missing"),
    _mutant("part-announced", TEXT, edits.move(THOUGHT, by=1)),
    _mutant("part-announced", TEXT, edits.drop(WRITTEN), name="start-lost"),
    _mutant(
        "part-announced",
        TEXT,
        edits.move(THOUGHT_END, by=-1),
        name="delta-after-end",
        also=(f"{_SUITE}/text-agrees",),
    ),
    _mutant(
        "part-announced",
        TEXT,
        edits.drop_all(typed(MESSAGE)),
        edits.move(THOUGHT, by=1),
        name="nothing-announced",
    ),
    _mutant("message-stays", TEXT, _changed(WRITTEN_END, "part.sessionID", "ses_other")),
    _mutant("part-type-stays", TEXT, _changed(THOUGHT_END, "part.type", "text")),
    _mutant("part-closed", TEXT, edits.drop(THOUGHT_END)),
    _mutant("part-ends-once", TEXT, edits.duplicate(WRITTEN_END)),
    _mutant("idle-last", TEXT, _said_when_idle),
    _mutant("turn-ended", TEXT, lambda pieces: list(pieces[:-2])),
    _mutant("tool-state", CALLS, _removed(_part("tool"), "part.callID")),
    _mutant("step-counted", TEXT, _changed(_part("step-finish"), "part.reason", "stopp")),
    _mutant("answered-once", TEXT, _asked_again),
)
