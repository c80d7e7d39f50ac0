"""Dialect `google.adk`: the events that the server of Google's ADK sends (`/run_sse`, `/run`).

Rule 1: an event with `partial: true` is `adk.partial`, any other one `adk.event`; each is followed
        by `adk.part` per part of its content. A payload with `error` is `adk.error`: nothing
        comes after it.
Rule 2: a whole event says what it `states` and, where fragments came before it, what was
        `streamed`, by kind: thought and text.
Rule 3: another `invocationId` begins the next answer, where the one request is not known.
Rule 4: nothing on the wire says that all is over. An invocation is done where it ends by itself and
        has settled; the reason of its last answer counts then. After an error it is cut.
Rule 5: an `errorCode` that is a reason to stop is no error; any other one is the event's `fault`.
        An event whose fragments had the reason is `reasoned`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.core.events import Frame
from conformance.dialects import outcome
from conformance.dialects.gemini_parts import CALL, COUNTED, part_data, token_counts
from conformance.dialects.google_adk.content import REASONS, RESULT, Invocation, parts_of, stated
from conformance.dialects.google_adk.vocabulary import ERROR, EVENT, PART, PARTIAL, UNKNOWN
from conformance.dialects.history_calls import OF_ADK
from conformance.dialects.json_edge import elements, event_data, mapping, string
from conformance.dialects.typed import RunReader


class AdkReader(RunReader[Invocation]):
    content_type = Invocation
    reasons = REASONS
    unknown = UNKNOWN
    history = "newMessage.parts"
    call_pairing = OF_ADK

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        if "error" in fields:
            self._sink.wire(ERROR, fields)
            self._content.close()
            if not self._sink.has_failed:  # an event may have said it before
                self._sink.say_error(outcome.error(fields["error"]))
        elif is_event(fields):
            self._say_event(fields)
        else:
            self._sink.wire(UNKNOWN, event_data(payload))

    def _read_body(self, payload: Any) -> None:
        for element in elements(payload):
            self._read_event(Frame("body", "", "", "", 0), element)
        if not isinstance(payload, list):
            self._sink.wire(UNKNOWN, event_data(payload))

    def _say_event(self, fields: dict[str, Any]) -> None:
        self._follow_run(string(fields.get("invocationId")))
        parts = parts_of(fields)
        agent = self._content.agent(fields)
        is_partial = fields.get("partial") is True
        if is_partial:
            self._sink.wire(PARTIAL, fields)
        else:
            about: dict[str, Any] = {"states": stated(parts)}
            if agent is not None and agent.has_streamed:
                about["streamed"] = {kind: agent.streamed_text(kind) for kind in about["states"]}
                about["reasoned"] = bool(agent.reason)
            if fault := _fault(fields):
                about["fault"] = fault
            self._sink.wire(EVENT, {**fields, **about})
        self._tell_parts(fields, is_partial=is_partial)
        if agent is None:
            return
        if parts:
            self._begin_once()
        if is_partial:
            self._content.add(agent, fields, parts)
        else:
            self._content.complete(agent, fields, parts)
            self._count(mapping(fields.get("usageMetadata")))
            self._see_error(fields)

    def _tell_parts(self, fields: Mapping[str, Any], *, is_partial: bool) -> None:
        """A wire event for each part: whose call it is, whether that is known, or waits."""
        calls = self._content.calls
        waiting = elements(fields.get("longRunningToolIds"))
        author = string(fields.get("author"))
        for element in elements(mapping(fields.get("content")).get("parts")):
            data = part_data(element, calls, author=author, is_partial=is_partial)
            if data["kind"] in (CALL, RESULT):
                data |= {"call_id": mapping(data[data["kind"]]).get("id")}
            if data["kind"] == CALL:
                calls += 1
                data["waits"] = data["call_id"] in waiting
            elif data["kind"] == RESULT:
                data["call_known"] = self._content.knows_call(string(data["call_id"]))
            self._sink.wire(PART, data)

    def _count(self, usage: dict[str, Any]) -> None:
        self._sink.say_usage(token_counts(usage, COUNTED, "totalTokenCount"))

    def _see_error(self, fields: Mapping[str, Any]) -> None:
        """Rule 5."""
        if code := _fault(fields):
            message = string(fields.get("errorMessage"))
            self._sink.say_error({"choice": 0, "code": code, "message": message})


def _fault(fields: Mapping[str, Any]) -> str:
    """What failed, by its code (rule 5)."""
    code = string(fields.get("errorCode"))
    return "" if code in REASONS or code == fields.get("finishReason") else code


def is_event(fields: Mapping[str, Any]) -> bool:
    """Whether a payload is an event of ADK, with who it is from and of which invocation."""
    named = fields.get("invocationId"), fields.get("author")
    return any(isinstance(each, str) for each in named)


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event, or a list of them; an error alone names no dialect."""
    fields = mapping(payload[0] if isinstance(payload, list) and payload else payload)
    names = fields.get("invocationId"), fields.get("author")
    return all(isinstance(each, str) for each in names) and "type" not in fields
