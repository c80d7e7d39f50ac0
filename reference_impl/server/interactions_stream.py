"""Interactions: engine events become events of steps, and a body puts the steps together.

Rule 1: one step is open at a time; steps count from 0.
Rule 2: a thought ends with its signature; its summary, here the thought itself, is sent to who
        asked for it. Where the model did not think there is no thought.
Rule 3: the last event says what became of the interaction, and counts; thoughts are counted beside
        the output. After an error there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from .engine import Finish, ToolCall, Usage
from .projection import AnswerBody, AnswerProjection, call_arguments
from .refusal import Refusal, interactions_error
from .stamp import Stamp
from .wire import DONE, Wire

SIGNATURE: Final = "cmVmZXJlbmNlIHNpZ25hdHVyZSBvZiBhIHRob3VnaHQ="
"""What stands for a signature here: the server keeps nothing, and knows its own again."""


class InteractionStream(AnswerProjection):
    def __init__(self, model: str, stamp: Stamp, *, shows: bool) -> None:
        super().__init__()
        at = datetime.fromtimestamp(stamp.now(), UTC).isoformat().replace("+00:00", "Z")
        self._stamp = stamp
        self._head = {"id": stamp.new("v1_"), "object": "interaction", "model": model}
        self._times = {"created": at, "updated": at}
        self._shows = shows
        self._steps = 0
        self._open = ""  # the type of the step that is open

    def opening(self) -> Iterator[Wire]:
        begun = {**self._head, "status": "in_progress"}
        yield _event("interaction.created", interaction=begun)
        name, status = begun["id"], begun["status"]
        yield _event("interaction.status_update", interaction_id=name, status=status)

    def _think(self, text: str) -> Iterator[Wire]:
        yield from self._enter("thought")
        if self._shows:
            yield self._delta("thought_summary", content={"type": "text", "text": text})

    def _say(self, text: str) -> Iterator[Wire]:
        yield from self._enter("model_output")
        yield self._delta("text", text=text)

    def _fail(self, refusal: Refusal) -> Iterator[Wire]:
        yield _event("error", **interactions_error(refusal))

    def _enter(self, kind: str) -> Iterator[Wire]:
        if self._open != kind:
            yield from self._leave()
            yield from self._begin(kind)

    def _begin(self, kind: str, **more: Any) -> Iterator[Wire]:
        self._open = kind
        yield _event("step.start", index=self._steps, step={"type": kind, **more})

    def _delta(self, kind: str, **said: Any) -> Wire:
        return _event("step.delta", index=self._steps, delta={"type": kind, **said})

    def _leave(self) -> Iterator[Wire]:
        if self._open == "thought":
            yield self._delta("thought_signature", signature=SIGNATURE)
        if self._open:
            self._open = ""
            yield _event("step.stop", index=self._steps)
            self._steps += 1

    def _call(self, call: ToolCall) -> Iterator[Wire]:
        named = {"id": self._stamp.new(""), "name": call.name, "arguments": {}}
        yield from self._leave()
        yield from self._begin("function_call", **named)
        yield self._delta("arguments_delta", arguments=call.arguments)
        yield from self._leave()

    def _finish(self, finish: Finish) -> Iterator[Wire]:
        yield from self._leave()
        status = "incomplete" if finish.reason == "length" else "completed"
        ended = {"status": "requires_action" if finish.reason == "tool_calls" else status}
        counted = {"usage": _counts(finish.usage)}
        yield _event(
            "interaction.completed", interaction={**self._head, **ended, **counted, **self._times}
        )
        yield Wire(DONE, "done")


def _event(kind: str, **fields: Any) -> Wire:
    return Wire({"event_type": kind, **fields}, kind)


def _counts(usage: Usage) -> dict[str, int]:
    return {
        "total_tokens": usage.prompt + usage.completion,
        "total_input_tokens": usage.prompt,
        "total_cached_tokens": 0,
        "total_output_tokens": usage.completion - usage.reasoning,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": usage.reasoning,
    }


class InteractionBody(AnswerBody):
    """What is not stored has no id."""

    def __init__(self, *, stores: bool) -> None:
        super().__init__(interactions_error)
        self._stores = stores
        self._steps: list[dict[str, Any]] = []
        self._end: Mapping[str, Any] = {}

    def _add(self, _: str, data: Mapping[str, Any]) -> None:
        match data["event_type"]:
            case "step.start":
                self._steps.append(dict(data["step"]))
            case "step.delta":
                _add_delta(self._steps[-1], data["delta"])
            case "interaction.completed":
                self._end = data["interaction"]
            case "error":
                self._error = {"error": data["error"]}

    def _whole(self) -> dict[str, Any]:
        for step in self._steps:
            if "arguments" in step:
                step["arguments"] = call_arguments(step["arguments"])
        named = {key: self._end[key] for key in self._end if key != "id" or self._stores}
        return {**named, "steps": self._steps}


def _add_delta(step: dict[str, Any], delta: Mapping[str, Any]) -> None:
    match delta["type"]:
        case "thought_signature":
            step["signature"] = delta["signature"]
        case "thought_summary":
            step["summary"] = _joined(step.get("summary"), delta["content"]["text"])
        case "text":
            step["content"] = _joined(step.get("content"), delta["text"])
        case "arguments_delta":
            step["arguments"] = delta["arguments"]


def _joined(before: list[Any] | None, text: str) -> list[Any]:
    said = "".join(piece["text"] for piece in before or ())
    return [{"type": "text", "text": said + text}]
