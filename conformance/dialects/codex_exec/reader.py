"""Dialect `codex.exec`: what `codex exec --json` writes.

Rule 1: a line is a wire event of its `type`, with the payload as it stands; a type that is not
        known is `line.unknown`, which is no error. One of an item says in which `run` of the
        command it is, counted by the threads that were started or resumed.
Rule 2: an item of reasoning or text comes whole, when it is completed. Reasoning is a
        summary, its parts joined.
Rule 3: an item that does something is a call that is carried out here: it starts and ends with the
        item. An item of type `error` is a diagnostic, and no failure.
Rule 4: a turn is done with `turn.completed`, or fails with `turn.failed`; `error` before it, which
        may be followed by another try, says nothing by itself. Without either it was cut.
Rule 5: every turn is an answer; so is what follows when a thread is started, or resumed, after it.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.reading import Reading
from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import (
    arguments_text,
    event_data,
    mapping,
    string,
    whole_counts,
)
from conformance.dialects.open_parts import OpenParts
from conformance.dialects.typed import ProgramReader

NAME: Final = "codex.exec"
_ITEMS: Final = frozenset({"item.started", "item.updated", "item.completed"})
_TURNS: Final = frozenset({"turn.started", "turn.completed", "turn.failed"})
LINES: Final = _ITEMS | _TURNS | {"thread.started", "error"}
OVERFLOW: Final = "codex.exec.overflow"
VOCABULARY: Final = vocabulary(NAME, *LINES, "line.unknown", OVERFLOW)
# Type of an item that calls a tool -> what its call is made of.
_CALLS: Final = {
    "command_execution": ("command",),
    "mcp_tool_call": ("arguments",),
    "collab_tool_call": ("prompt",),
    "web_search": ("query",),
    "file_change": ("changes",),
}
_COUNTS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_output_tokens",
}


class ExecItems(OpenParts):
    overflow = OVERFLOW

    def take(self, event: str, item: dict[str, Any]) -> None:
        kind, item_id = string(item.get("type")), string(item.get("id"))
        if kind in _CALLS:
            self._take_call(event, kind, item)
        elif event == "item.completed" and kind == "reasoning":
            block = self._blocks.think("summary", explicit=True, item_id=item_id)
            if text := string(item.get("text")):
                self._blocks.thought(block, "summary", text)
            self._blocks.close(block, explicit=True)
        elif event == "item.completed" and kind == "agent_message":
            block = self._blocks.write()
            if text := string(item.get("text")):
                self._blocks.text(block, text)
            self._blocks.close(block, explicit=True)

    def _take_call(self, event: str, kind: str, item: dict[str, Any]) -> None:
        item_id = string(item.get("id"))
        call = self._calls.get(item_id)
        if call is None:
            call = self._start_call(item_id, string(item.get("tool")) or kind, is_hosted=True)
        if call is None or event != "item.completed":
            return
        given = {name: item[name] for name in _CALLS[kind] if name in item}
        stated = given.get("arguments")
        if text := arguments_text(stated if isinstance(stated, dict) else given):
            call.add(self._sink, text)
        self._end_open_call(item_id)


class ExecReader(ProgramReader[ExecItems]):
    """Reader of one run of the command."""

    content_type = ExecItems
    history = "input"

    def __init__(self, reading: Reading) -> None:
        self._has_thread = False
        self._runs = 0
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._has_spoken = False

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "turn.started":
            self._announce("", has_spoken=self._has_spoken)
        elif kind == "thread.started":
            self._runs += 1
            self._announce_thread()
        of_run = {"run": self._runs} if kind in _ITEMS else {}
        self._sink.wire(kind if kind in LINES else self.unknown, event_data(payload, **of_run))
        self._has_spoken = self._has_spoken or (self._announced is not None and kind in _ITEMS)
        if self._content.is_over:
            return
        if kind in _ITEMS:
            self._content.take(kind, mapping(fields.get("item")))
        elif kind in _TURNS:
            self._read_turn(kind, fields)

    def _announce_thread(self) -> None:
        """Another thread, or the same one in another run of the command (rule 5)."""
        if self._has_thread and (self._is_done or self._has_spoken):
            self._next_answer()
        self._has_thread = True

    def _read_turn(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "turn.started":
            self._sink.start_message()
            return
        self._content.close()
        self._is_done = True
        if kind == "turn.failed":
            message = string(mapping(fields.get("error")).get("message"))
            self._sink.say_error({"choice": 0, "code": "", "message": message})
            return
        self._sink.end_message("stop", whole_counts(fields.get("usage"), _COUNTS))


def recognises(_frame: Frame, payload: Any) -> bool:
    """The beginning of a thread, or an item of one; turns and errors name no dialect."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    if kind == "thread.started":
        return isinstance(fields.get("thread_id"), str)
    return kind in _ITEMS and isinstance(mapping(fields.get("item")).get("type"), str)
