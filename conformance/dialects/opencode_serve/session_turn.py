"""What one session says from a question of its user until it is idle."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, cast

from msgspec import Struct

from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.open_parts import MOST_OPEN, OpenParts, PartKind
from conformance.dialects.opencode_run.parts import REASONS, stated_error, step_tokens
from conformance.dialects.opencode_serve.vocabulary import OVERFLOW
from conformance.dialects.sink import Sink

TEXTS: Final = ("reasoning", "text")


class AnnouncedPart(Struct):
    """A part that was announced: the length of its text so far, and how that ends."""

    kind: str
    length: int = 0
    tail: str = ""  # white space at the end of what came in deltas
    is_streamed: bool = False  # it began without a text, or deltas came
    is_ended: bool = False

    def add(self, text: str) -> None:
        """A delta came."""
        self.is_streamed = True
        self.length += len(text)
        kept = text.rstrip()
        self.tail = text[len(kept) :] if kept else self.tail + text

    def stated(self, text: str) -> str:
        """A text that is stated, with the white space that releases before 1.18 cut off."""
        return text if text.endswith(self.tail) else text + self.tail


class SessionTurn(OpenParts):
    """The parts of one turn, whose events have its number as their `choice`."""

    overflow = OVERFLOW

    def __init__(self, sink: Sink, choice: int) -> None:
        super().__init__(sink, choice)
        self.parts: dict[str, AnnouncedPart] = {}
        self._unended: set[str] = set()  # texts and thoughts whose end is still owed
        self.is_done = False
        self.has_failed = False  # by an event of the session
        self.states_error = False  # a message of it does
        self._has_spoken = self._has_called = False  # in the step
        self._steps = 0
        self._reason = ""
        self._tokens: Counter[str] = Counter()

    def add_delta(self, part_id: str, text: str) -> None:
        part = self.parts[part_id]
        part.add(text)
        if not self.is_done:
            self._add_text(cast(PartKind, part.kind), part_id, text)

    def update(self, part_id: str, fields: dict[str, Any]) -> dict[str, Any]:
        """A part is stated as it is now; gives what rules want to know of it."""
        kind = string(fields.get("type"))
        part = self.parts.get(part_id)
        is_new = part is None
        if part is None:
            if len(self.parts) >= MOST_OPEN or self.is_over:
                self._has_room_for_none()
                return {}
            part = self.parts[part_id] = AnnouncedPart(kind)
        if kind in TEXTS:
            return self._update_text(part, part_id, fields, is_new=is_new)
        if kind == "tool":
            self._update_tool(part, fields, is_new=is_new)
        elif kind == "step-start" and is_new:
            self._has_spoken = self._has_called = False
            self._emit("step.start", step=self._steps)
        elif kind == "step-finish" and is_new:
            return self._finish_step(fields)
        return {}

    def _update_text(
        self, part: AnnouncedPart, part_id: str, fields: dict[str, Any], *, is_new: bool
    ) -> dict[str, Any]:
        """What came in deltas is not reported again."""
        kind = cast(PartKind, part.kind)
        text = string(fields.get("text"))
        is_ended = "end" in mapping(fields.get("time"))
        about = {"stated": part.stated(text), "streamed": part.is_streamed, "ended": is_ended}
        if part.is_ended or self.is_done:
            part.is_ended = part.is_ended or is_ended
            return about
        if is_new:
            self._start_part(kind, part_id)
            self._unended.add(part_id)
            part.is_streamed = not text
        elif text and not part.length:
            part.is_streamed = is_ended  # else it grows with its statements, as before 1.2
        self._add_text(kind, part_id, text[part.length :])
        part.length = max(part.length, len(text))
        self._has_spoken = self._has_spoken or (kind == "text" and bool(text.strip()))
        if is_ended:
            part.is_ended = True
            self._unended.discard(part_id)
            self._blocks.close(self._open.pop((kind, part_id), None), explicit=True)
        return about

    def _update_tool(self, part: AnnouncedPart, fields: dict[str, Any], *, is_new: bool) -> None:
        """A call is over, for who reads what the model says, once its input is there."""
        call_id, state = string(fields.get("callID")), mapping(fields.get("state"))
        if self.is_done or part.is_ended:
            return
        self._has_called = True
        if is_new:
            self._start_call(call_id, string(fields.get("tool")), is_hosted=True)
        if state.get("status") in ("running", "completed", "error"):
            part.is_ended = True
            call = self._calls.get(call_id)
            if call is not None and (text := arguments_text(state.get("input"))):
                call.add(self._sink, text)
            self._end_open_call(call_id)

    def _finish_step(self, fields: dict[str, Any]) -> dict[str, Any]:
        self._reason = string(fields.get("reason"))
        self._tokens.update(step_tokens(mapping(fields.get("tokens"))))
        self._emit("step.end", step=self._steps)
        self._steps += 1
        return {"spoke": self._has_spoken, "called": self._has_called}

    def leave_open(self) -> None:
        """A try failed: what it had begun need not end."""
        self._unended.clear()

    def fail(self, error: dict[str, Any]) -> None:
        self.leave_open()
        self.close()
        self.has_failed = True
        self._sink.say_error(stated_error(error, self.choice))

    def finish(self) -> dict[str, Any]:
        """The session is idle; gives what rules want to know of the turn that is over."""
        about = {"left_open": len(self._unended), "unreported": self.leaves_unreported()}
        self.close()
        self.is_done = True
        if self._reason and not self.has_failed:
            self._emit("finish", reason=REASONS.get(self._reason, self._reason))
        if any(self._tokens.values()):  # where the model counts nothing, opencode counts 0
            self._emit("usage", **self._tokens)
        return about

    def leaves_unreported(self) -> bool:
        """Whether a message states an error that the session does not report; reported once."""
        is_unreported, self.states_error = self.states_error and not self.has_failed, False
        return is_unreported

    def _emit(self, kind: str, **fields: Any) -> None:
        self._sink.emit(kind, {"choice": self.choice, **fields})

    def _has_room_for_none(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._sink.wire(self.overflow, {})
