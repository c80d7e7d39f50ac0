"""Dialect `opal.rpc`: what Opal's server writes to its command line, JSON-RPC in lines.

Rule 1: a notification `agent/event` is a wire event of the `type` in its `params`, with these as
        they stand and `turn`, the number of turns that ended before. A type that version 0.2 does
        not know is `event.unknown`, which is no error.
Rule 2: requests and responses of both sides are `rpc.request` and `rpc.response`; they say nothing.
Rule 3: a run is done with `agent_end` or `agent_abort`, or fails with `error`, after which nothing
        comes. Without any of them it was cut. A run is an answer, a turn is a step.
Rule 4: events of a subagent give wire events alone.

The blocks of one run:

Rule 5: nothing on the wire ends a thought or a message: text, a call, another start, or the end of
        the turn does. A delta that comes without a start begins an unannounced part, so thinking
        that goes on after text is a block of its own.
Rule 6: a call of a tool starts and ends with its execution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import arguments_text, event_data, mapping, string, whole_counts
from conformance.dialects.open_parts import OpenParts, PartKind
from conformance.dialects.typed import ProgramReader

OVERFLOW: Final = "opal.rpc.overflow"


class AgentRun(OpenParts):
    """What a run says, turn after turn."""

    overflow = OVERFLOW

    def start_thought(self) -> None:
        """Thinking is announced."""
        self.end_texts()
        self._begin_part("reasoning", "", explicit=True)

    def add(self, kind: PartKind, event: dict[str, Any]) -> None:
        """A piece of thinking or of text; an empty one says nothing."""
        text = string(event.get("delta"))
        if text and (kind, "") not in self._open:
            self.end_texts()
        self._add_text(kind, "", text)

    def end_texts(self) -> None:
        """Ends the thought or the message that is open."""
        for block in self._open.values():
            self._blocks.close(block)
        self._open.clear()

    def start_tool(self, event: dict[str, Any]) -> None:
        """A tool begins to run, with all its arguments."""
        self.end_texts()
        name = string(event.get("tool"))
        call = self._start_call(string(event.get("call_id")), name, is_hosted=True)
        if call is not None and (text := arguments_text(event.get("args"))):
            call.add(self._sink, text)

    def end_tool(self, event: dict[str, Any]) -> None:
        self._end_open_call(string(event.get("call_id")))


NAME: Final = "opal.rpc"
_TAKEN: Final[Mapping[str, Callable[[AgentRun, dict[str, Any]], object]]] = {
    "thinking_start": lambda run, _event: run.start_thought(),
    "thinking_delta": lambda run, event: run.add("reasoning", event),
    "message_delta": lambda run, event: run.add("text", event),
    "tool_start": AgentRun.start_tool,
    "tool_end": AgentRun.end_tool,
}
_EARLIER: Final = {"tool_execution_start": "tool_start", "tool_execution_end": "tool_end"}
_OF_RUNS: Final = frozenset({"agent_start", "agent_end", "agent_abort", "turn_end", "error"})
EVENTS: Final = (
    frozenset(_TAKEN)
    | _OF_RUNS
    | {
        *("message_start", "tool_output", "usage_update", "message_queued", "message_applied"),
        *("status_update", "context_discovered", "skill_loaded", "agent_recovered"),
        *("sub_agent_event", "stream_stalled"),
    }
)
VOCABULARY: Final = vocabulary(
    NAME, *EVENTS, "event.unknown", "rpc.request", "rpc.response", "line.unknown", OVERFLOW
)
_COUNTS: Final = {"input": "prompt_tokens", "output": "completion_tokens"}


class OpalReader(ProgramReader[AgentRun]):
    """Reader of one run, or of a session."""

    content_type = AgentRun
    history = "messages"

    def _renew(self) -> None:
        super()._renew()
        self._turn = 0
        self._in_turn = False

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        if fields.get("method") == "agent/event":
            self._read_agent(mapping(fields.get("params")))
        elif string(fields.get("method")):
            self._sink.wire("rpc.request", fields)
        else:
            answers = "result" in fields or "error" in fields
            self._sink.wire("rpc.response" if answers else self.unknown, event_data(payload))

    def _read_agent(self, params: dict[str, Any]) -> None:
        stated = string(params.get("type"))
        kind = _EARLIER.get(stated, stated)
        if kind == "agent_start":
            self._announce("", has_spoken=self._in_turn or self._turn > 0)
        data = {**params, "turn": self._turn}
        self._sink.wire(kind if kind in EVENTS else "event.unknown", data)
        if self._content.is_over:
            return
        if (take := _TAKEN.get(kind)) is not None:
            self._begin_turn()
            take(self._content, params)
        elif kind in _OF_RUNS:
            self._read_run(kind, params)

    def _begin_turn(self) -> None:
        if not self._in_turn:
            self._in_turn = True
            self._sink.emit("step.start", {"choice": 0, "step": self._turn})

    def _read_run(self, kind: str, params: dict[str, Any]) -> None:
        if kind == "agent_start":
            self._sink.start_message()
        elif kind == "turn_end":
            self._content.end_texts()
            self._end_turn()
        else:
            self._content.close()
            self._end_turn()
            self._is_done = True
            self._end_run(kind, params)

    def _end_turn(self) -> None:
        if self._in_turn:
            self._in_turn = False
            self._sink.emit("step.end", {"choice": 0, "step": self._turn})
            self._turn += 1

    def _end_run(self, kind: str, params: dict[str, Any]) -> None:
        if kind == "error":
            reason = string(params.get("reason"))
            self._sink.say_error({"choice": 0, "code": "", "message": reason})
            return
        reason = "stop" if kind == "agent_end" else "cancelled"
        self._sink.end_message(reason, whole_counts(params.get("usage"), _COUNTS))


def recognises(_frame: Frame, payload: Any) -> bool:
    """A notification of the agent; other JSON-RPC is anybody's."""
    fields = mapping(payload)
    params = mapping(fields.get("params"))
    return fields.get("method") == "agent/event" and isinstance(params.get("type"), str)
