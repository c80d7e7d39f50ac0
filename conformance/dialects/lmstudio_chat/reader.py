"""Dialect `lmstudio.chat`: the events of LM Studio's own chat, and whole answers.

Rule 1: an event is its type behind `lm.`. A body is `lm.body`, an error of any form `lm.error`.
Rule 2: every `chat.start` is a message, and begins the next answer where something came before.
Rule 3: `chat.end` is the end. What its result repeats is not said again: it is in the event as
        `stated`, joined by kind, with the names of the tools that were called.
Rule 4: an error leaves the answer open, for `chat.end` still comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.dialects import outcome
from conformance.dialects.json_edge import event_data, mapping, objects, string, whole_counts
from conformance.dialects.lmstudio_chat.content import ACTS, AnswerBlocks, called_tool
from conformance.dialects.lmstudio_chat.vocabulary import BODY, PREFIX, STREAMED, UNKNOWN
from conformance.dialects.typed import TypedReader

_COUNTS: Final = {
    "input": "input_tokens",
    "output": "total_output_tokens",
    "reasoning": "reasoning_output_tokens",
}


class LmStudioReader(TypedReader[AnswerBlocks]):
    """Reader of one exchange."""

    unknown = UNKNOWN
    history = "input"

    def _new_content(self) -> AnswerBlocks:
        return AnswerBlocks(self._sink)

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "error" or (kind not in STREAMED and is_failure(frame, fields)):
            self._fail(payload)
            return
        if kind == "chat.start":
            self._announce("", has_spoken=self._has_begun)
        data = event_data(payload)
        if kind == "chat.end":
            data = {**data, "stated": stated(mapping(fields.get("result")))}
        self._sink.wire(PREFIX + kind if kind in STREAMED else self.unknown, data)
        if kind in ACTS or kind in ("chat.start", "chat.end"):
            self._begin_once()
        if kind in ACTS:
            ACTS[kind](self._content, fields)
        elif kind == "chat.end":
            self._content.close()
            self._count(mapping(fields.get("result")))
            self._say_done()

    def _fail(self, payload: Any) -> None:
        """Rules 1 and 4."""
        self._sink.wire("lm.error", event_data(payload))
        self._content.close()
        self._sink.say_error(outcome.error(mapping(payload).get("error") or payload))

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        self._is_whole = True
        if is_failure(None, fields):
            self._fail(payload)
        elif not isinstance(fields.get("output"), list):
            self._sink.wire(self.unknown, event_data(payload))
        else:
            self._sink.wire(BODY, fields)
            self._begin_once()
            for item in objects(fields.get("output")):
                self._content.whole(item)
            self._count(fields)

    def _count(self, result: Mapping[str, Any]) -> None:
        self._sink.say_usage(whole_counts(result.get("stats"), _COUNTS))


def stated(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says again, by kind (rule 3)."""
    items = objects(result.get("output"))
    texts = {
        kind: "".join(string(each.get("content")) for each in items if each.get("type") == kind)
        for kind in ("reasoning", "message")
    }
    calls = [
        called_tool(each)
        for each in items
        if each.get("type") in ("tool_call", "invalid_tool_call")
    ]
    return {**texts, "tools": calls}


def is_failure(frame: Frame | None, fields: Mapping[str, Any]) -> bool:
    """Whether a payload is an error."""
    return bool(fields.get("error")) or (frame is not None and frame.event == "error")


def recognises(frame: Frame, payload: Any) -> bool:
    """An event of a stream or a whole answer; an error alone names no dialect."""
    del frame
    fields = mapping(payload)
    kind = string(fields.get("type"))
    is_body = "model_instance_id" in fields and isinstance(fields.get("output"), list)
    return (kind in STREAMED and kind != "error") or is_body
