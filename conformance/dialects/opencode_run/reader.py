"""Dialect `opencode.run`: what `opencode run --format json` writes.

Rule 1: a line is a wire event of its `type`, with the payload as it stands and `step`, the number
        of steps that were started so far; a type that is not known is `line.unknown`, which is no
        error. `step_finish` also has what the step did: `spoke` (it gave text), `called` (a tool),
        `refused` (permission for one), and `goes_on`. Lines of subagents are not written.
Rule 2: a part of reasoning or text comes whole, once it is complete.
Rule 3: a tool is carried out here: its call starts and ends with its line.
Rule 4: a step is a call of the model. It goes on where it called a tool, or finished with
        `tool-calls` or `unknown`: opencode asks the model again. A run is done with a step that
        does not, with `done`, or fails with `error`. Without any of them it was cut.
Rule 5: a step that starts after the end of a run, or in another session, begins the next answer.
Rule 6: tokens are counted by the step: those of a run are their sum.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.reading import Reading
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import event_data, mapping, string
from conformance.dialects.opencode_run.parts import (
    OVERFLOW,
    REASONS,
    RunParts,
    stated_error,
    step_tokens,
)
from conformance.dialects.typed import ProgramReader

NAME: Final = "opencode.run"
# Type of a line that holds a part -> type of its part.
PARTS: Final = {
    "step_start": "step-start",
    "text": "text",
    "reasoning": "reasoning",
    "tool_use": "tool",
    "step_finish": "step-finish",
}
LINES: Final = frozenset(PARTS) | {"error", "done"}
VOCABULARY: Final = vocabulary(NAME, *LINES, "line.unknown", OVERFLOW)
# Behind these the model is asked again: so it is where the step called a tool.
_GOING_ON: Final = frozenset({"tool-calls", "unknown", ""})
_REJECTED: Final = "rejected permission"


class RunReader(ProgramReader[RunParts]):
    """Reader of one run of the command, or of several."""

    content_type = RunParts
    history = "input"

    def __init__(self, reading: Reading) -> None:
        self._step = 0
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._in_step = False
        self._has_called = self._has_spoken = self._is_refused = False  # in the step
        self._tokens: Counter[str] = Counter()

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "step_start":
            self._announce(string(fields.get("sessionID")))
            self._step += 1
        if kind not in LINES:
            self._sink.wire(self.unknown, event_data(payload))
            return
        part = mapping(fields.get("part"))
        did = self._what_step_did(part) if kind == "step_finish" else {}
        self._sink.wire(kind, {**fields, "step": self._step, **did})
        if not self._content.is_over:
            self._read_line(kind, fields)

    def _what_step_did(self, part: dict[str, Any]) -> dict[str, bool]:
        goes_on = self._has_called or string(part.get("reason")) in _GOING_ON
        did = {"spoke": self._has_spoken, "called": self._has_called, "refused": self._is_refused}
        return {**did, "goes_on": goes_on}

    def _read_line(self, kind: str, fields: dict[str, Any]) -> None:
        part = mapping(fields.get("part"))
        if kind == "step_start":
            self._start_step(part)
        elif kind == "reasoning":
            self._content.take_text("reasoning", part)
        elif kind == "text":
            self._has_spoken = self._has_spoken or bool(string(part.get("text")).strip())
            self._content.take_text("text", part)
        elif kind == "tool_use":
            self._has_called = True
            self._is_refused = self._is_refused or _is_refusal(mapping(part.get("state")))
            self._content.take_tool(part)
        elif kind == "step_finish":
            self._finish_step(part)
        elif kind == "error":
            self._fail(mapping(fields.get("error")))
        elif not self._is_done:  # `done`, after a step that was to go on
            self._is_done = True
            self._sink.end_message("", self._tokens)

    def _start_step(self, part: dict[str, Any]) -> None:
        self._end_step()
        self._in_step = True
        self._has_called = self._has_spoken = self._is_refused = False
        if not self._has_begun:  # its messages, one a step, are one answer
            self._has_begun = True
            self._sink.start_message("assistant", string(part.get("messageID")))
        self._sink.emit("step.start", {"choice": 0, "step": self._step - 1})

    def _end_step(self) -> None:
        if self._in_step:
            self._in_step = False
            self._sink.emit("step.end", {"choice": 0, "step": self._step - 1})

    def _finish_step(self, part: dict[str, Any]) -> None:
        self._tokens.update(step_tokens(mapping(part.get("tokens"))))
        self._end_step()
        reason = string(part.get("reason"))
        if self._has_called or reason in _GOING_ON:
            return
        self._is_done = True
        self._sink.end_message(REASONS.get(reason, reason), self._tokens)

    def _fail(self, error: dict[str, Any]) -> None:
        self._content.close()
        self._end_step()
        self._is_done = True
        self._sink.say_error(stated_error(error))


def _is_refusal(state: dict[str, Any]) -> bool:
    """Whether a call failed because it was not allowed."""
    return state.get("status") == "error" and _REJECTED in string(state.get("error"))


def recognises(_frame: Frame, payload: Any) -> bool:
    """A line of a session that holds a part, or the error of one."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    if not isinstance(fields.get("sessionID"), str) or kind not in LINES:
        return False
    if kind in PARTS:
        return mapping(fields.get("part")).get("type") == PARTS[kind]
    return "timestamp" in fields
