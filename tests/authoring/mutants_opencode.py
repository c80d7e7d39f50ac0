"""Mutants of `wire/opencode-run`."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Step, typed
from tests.authoring.mutant import Mutant
from tests.authoring.opencode import run, said, step, thought
from tests.authoring.opencode_streams import FERRY_TEXT

_BASES: Final = "opencode.run/opencode"
TEXT, CALLS, FAILED = "reasoning-then-text", "tool-then-text", "failed-in-step"
END: Final = typed("step_finish")


def _mutant(
    rule: str, base: str, *steps: Step, name: str = "", also: tuple[str, ...] = ()
) -> Mutant:
    suite = "wire/opencode-run"
    named = f"{suite}/{name}" if name else ""
    return Mutant(f"{suite}/{rule}", f"{_BASES}/{base}", steps, also=also, name=named)


def _changed(kind: str, path: str, value: Any, nth: int = 0) -> Step:
    return edits.change(typed(kind), path, value, nth)


def _removed(kind: str, path: str) -> Step:
    return edits.remove(typed(kind), path)


def _asked_again(pieces: Any) -> Any:
    """The model does not say why it stopped, and is asked once more."""
    first = step([thought("So."), said(FERRY_TEXT)], "unknown")
    return run([*first, *step([said(FERRY_TEXT)])])[: len(pieces) + 4]


MUTANTS: Final = (
    # What came before is lost.
    _mutant(
        "begun", FAILED, lambda pieces: list(pieces[1:2]), also=("wire/opencode-run/step-first",)
    ),
    _mutant("line-typed", TEXT, _removed("text", "type")),
    _mutant("line-fields", TEXT, _removed("reasoning", "timestamp")),
    _mutant("line-fields", TEXT, _changed("text", "type", "texts"), name="type-misspelt"),
    _mutant(
        "session-once",
        TEXT,
        _changed("text", "sessionID", "ses_other"),
        _changed("text", "part.sessionID", "ses_other"),
    ),
    _mutant("part-of-session", TEXT, _changed("text", "part.sessionID", "ses_other")),
    _mutant("part-fields", TEXT, _removed("text", "part.id")),
    _mutant("part-type-agrees", TEXT, _changed("text", "part.type", "reasoning")),
    _mutant("part-once", TEXT, edits.duplicate(typed("text"))),
    _mutant("text-ended", TEXT, _removed("text", "part.time.end")),
    _mutant("step-first", TEXT, edits.move(typed("step_start"), by=1)),
    _mutant(
        "step-last",
        TEXT,
        edits.move(typed("text"), by=1),
    ),
    _mutant("step-closed", CALLS, edits.drop(END)),
    _mutant("message-of-step", TEXT, _changed("text", "part.messageID", "msg_other")),
    _mutant("run-ended", TEXT, edits.drop(END)),
    _mutant("run-ended", CALLS, lambda pieces: list(pieces[:6]), name="ended-behind-calls"),
    _mutant("refusal-answered", "refused-and-told", lambda pieces: list(pieces[:4])),
    _mutant("answered-once", TEXT, _asked_again),
    _mutant("calls-shown", CALLS, edits.drop_all(typed("tool_use"))),
    _mutant("tool-state", CALLS, _changed("tool_use", "part.state.status", "running")),
    _mutant("tool-state", CALLS, _removed("tool_use", "part.callID"), name="call-unnamed"),
    _mutant("reason-stated", TEXT, _changed("step_finish", "part.reason", "stopp")),
    _mutant("tokens-counted", TEXT, _removed("step_finish", "part.tokens.reasoning")),
    _mutant("says-something", TEXT, _changed("reasoning", "part.text", "")),
    # Without --thinking.
    _mutant("counted-reasoning-shown", "thinking-shown", edits.drop(typed("reasoning"))),
    _mutant("failure-said", FAILED, _removed("error", "error.name")),
)
