"""Dialect `gemini.cli`: what `gemini -p "..." --output-format stream-json` writes.

Rule 1: a line is a wire event of its `type`, with the payload as it stands; a type that is not
        known is `line.unknown`, which is no error.
Rule 2: pieces of text of the assistant are one text until a tool is used, or the run is over. What
        the user said, and what other roles say, is nothing that the model said.
Rule 3: tools are carried out here: a call starts and ends with its line.
Rule 4: `error` is a notice. A run is done with a `result`, or has failed where its `status` is
        `error`; without `error` in it the last notice says why, and what it counts is not known.
        Without any result it was cut.
Rule 5: `init` begins the next answer, after the end of the one before.
Rule 6: thoughts are in no line. The total of the tokens may count more than input and output: what
        of that is thinking is not said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects.blocks import Block
from conformance.dialects.event_table import EventTable
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

NAME: Final = "gemini.cli"
OVERFLOW: Final = "gemini.cli.overflow"
LINES: Final = EventTable(
    openings=("init",),
    starts=("tool_use",),
    words={"message": {"text": ("content",)}},
    ends=("tool_result",),
    finishes=("result",),
    others=("error",),
)
VOCABULARY: Final = vocabulary(NAME, *LINES.types, "line.unknown", OVERFLOW)
_COUNTS: Final = {"input": "input_tokens", "output": "output_tokens"}
# Line -> the fields, besides its type, by which it is known.
_MARKS: Final[Mapping[str, Mapping[str, type]]] = {
    "init": {"session_id": str, "model": str},
    "tool_use": {"tool_id": str, "tool_name": str},
    "tool_result": {"tool_id": str, "status": str},
    "result": {"status": str, "stats": dict},
}


class RunParts(OpenParts):
    """The text and the calls of one run."""

    overflow = OVERFLOW

    def add_text(self, text: str) -> None:
        self._add_text("text", "", text)

    def end_text(self) -> None:
        block: Block | None = self._open.pop(("text", ""), None)
        self._blocks.close(block)

    def use_tool(self, fields: Mapping[str, Any]) -> None:
        self.end_text()
        call_id, name = string(fields.get("tool_id")), string(fields.get("tool_name"))
        if (call := self._start_call(call_id, name, is_hosted=True)) is not None:
            if text := arguments_text(fields.get("parameters")):
                call.add(self._sink, text)
            self._end_open_call(call_id)


class RunReader(ProgramReader[RunParts]):
    """Reader of one run of the command, or of several."""

    content_type = RunParts
    history = "input"

    def _renew(self) -> None:
        super()._renew()
        self._notice = ""

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "init":
            self._announce(string(fields.get("session_id")))
        self._sink.wire(kind if kind in LINES.types else self.unknown, event_data(payload))
        if self._content.is_over or self._is_done:
            return
        if kind == "message" and fields.get("role") == "assistant":
            self._begin_once()
            self._content.add_text(string(fields.get("content")))
        elif kind == "tool_use":
            self._begin_once()
            self._content.use_tool(fields)
        elif kind == "error":
            self._notice = string(fields.get("message"))
        elif kind == "result":
            self._end_run(fields)

    def _end_run(self, fields: Mapping[str, Any]) -> None:
        self._content.close()
        if fields.get("status") != "error":
            self._begin_once()
            self._is_done = True
            self._sink.end_message("", whole_counts(fields.get("stats"), _COUNTS))
            return
        error = mapping(fields.get("error"))
        message = string(error.get("message")) or self._notice
        self._is_done = True
        self._sink.say_error({"choice": 0, "code": string(error.get("type")), "message": message})


def recognises(_frame: Frame, payload: Any) -> bool:
    """A line by its type and the fields that only Gemini CLI gives it; messages name no dialect."""
    fields = mapping(payload)
    marks = _MARKS.get(string(fields.get("type")))
    if marks is None:
        return False
    return all(isinstance(fields.get(key), is_a) for key, is_a in marks.items())


COLUMNS: Final = LINES.columns(
    lambda fields: ("timestamp",) if fields.get("role") == "assistant" else None
)
