"""Dialect `gemini.interactions`: the Interactions API in its steps, streamed or whole.

Rule 1: an event is of its `event_type`, steps as `interaction.step.*`. A body is `interaction`,
        then `interaction.step` per step, shaped like the start of one: `index` and `step`. Usage,
        wherever it stands, is `interaction.usage` with the `sum` of what adds up to its total.
Rule 2: every `interaction.created` is a message; one of another id, or after the end of an
        interaction, begins the next answer.
Rule 3: `interaction.completed` is the end, whatever its status says: the status is why. Where it
        says that the interaction failed there is an error and no finish. A stream without it was
        cut, `[DONE]` or not.
Rule 4: tokens of thoughts are counted apart from those of the answer: both are output here.
Rule 5: beyond `MOST_BLOCKS` steps a wire event `interaction.overflow` ends the semantic events.

The events before May 2026 (`interaction.start`, `content.delta`, ...) are not read: the API sends
them no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects import outcome
from conformance.dialects.gemini_interactions.steps import Steps
from conformance.dialects.gemini_interactions.vocabulary import (
    BODY,
    ERROR,
    STEP,
    STREAMED,
    UNKNOWN,
    USAGE,
)
from conformance.dialects.gemini_parts import token_counts
from conformance.dialects.history_calls import OF_INTERACTIONS
from conformance.dialects.json_edge import elements, event_data, mapping, objects, string, whole
from conformance.dialects.typed import TypedReader

_REASONS: Final = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
}
_FAILURES: Final = frozenset({"failed", "cancelled"})
_RUNNING: Final = frozenset({"in_progress", "queued"})
_EARLIER: Final = frozenset(
    {
        *("interaction.start", "interaction.complete"),
        *("content.start", "content.delta", "content.stop"),
    }
)
_COUNTED: Final = (
    "total_input_tokens",
    "total_output_tokens",
    "total_thought_tokens",
    "total_tool_use_tokens",
)


class InteractionsReader(TypedReader[Steps]):
    content_type = Steps
    unknown = UNKNOWN
    history = "input"
    call_pairing = OF_INTERACTIONS

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = STREAMED.get(string(fields.get("event_type")), "")
        if not kind:
            is_error = frame.event == "error" or "error" in fields
            kind = ERROR if is_error else self.unknown
        if kind == "interaction.created":
            self._announce(string(mapping(fields.get("interaction")).get("id")))
        is_typed = bool(string(fields.get("event_type"))) or fields.get("type") == "ping"
        untyped = {} if is_typed else {"untyped": True}
        self._sink.wire(kind, event_data(payload, **untyped))
        if self._content.is_over:
            return
        if kind.startswith(f"{STEP}."):
            self._begin_once()
            self._read_step(kind, fields)
        elif kind == ERROR:
            self._content.close()
            self._sink.say_error(outcome.error(fields.get("error") or payload))
        else:
            self._read_state(kind, mapping(fields.get("interaction")))

    def _read_step(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "interaction.step.delta":
            self._content.delta(fields)
        elif kind == "interaction.step.start":
            self._content.start(fields)
        else:
            self._content.stop(fields)

    def _read_state(self, kind: str, interaction: dict[str, Any]) -> None:
        if kind == "interaction.created":
            self._content.renew()
            self._begin(message_id=string(interaction.get("id")))
        elif kind == "interaction.completed":
            self._begin_once()
            self._content.close()
            self._end_interaction(interaction)
            self._say_done()

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        if not (fields.get("object") == BODY or isinstance(fields.get("steps"), list)):
            is_error = bool(fields.get("error"))
            self._is_whole = True
            self._sink.wire(ERROR if is_error else self.unknown, event_data(payload))
            if is_error:
                self._sink.say_error(outcome.error(fields["error"]))
            return
        self._is_whole = string(fields.get("status")) not in _RUNNING
        self._sink.wire(BODY, fields)
        steps = elements(fields.get("steps"))
        for index, step in enumerate(steps):
            self._sink.wire(STEP, {"index": index, "step": step})
        self._begin(message_id=string(fields.get("id")))
        self._content.whole(steps)
        self._end_interaction(fields)

    def _end_interaction(self, interaction: Mapping[str, Any]) -> None:
        """Rules 3 and 4."""
        status = string(interaction.get("status"))
        if status and status not in _FAILURES | _RUNNING:
            self._sink.end_choice(_REASONS.get(status, status))
        if usage := mapping(interaction.get("usage")):
            self._count(usage)
        if status in _FAILURES:
            errors = objects(interaction.get("errors"))
            error = {"message": string(errors[0].get("message")) if errors else "", "code": status}
            self._sink.say_error(outcome.error(error))

    def _count(self, usage: dict[str, Any]) -> None:
        total = sum(filter(None, (whole(usage.get(key)) for key in _COUNTED)))
        self._sink.wire(USAGE, {**usage, "sum": total})
        self._sink.say_usage(token_counts(usage, _COUNTED, "total_tokens"))


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of an interaction, also of the earlier ones, or a whole one; an error names none."""
    fields = mapping(payload)
    kind = string(fields.get("event_type"))
    return (
        (kind in STREAMED and kind != "error") or kind in _EARLIER or fields.get("object") == BODY
    )
