"""Dialect `agui`: the Agent-User Interaction protocol, 1.0 and the releases before it.

Rule 1: an event is a wire event of its `type`, with the payload as it stands; a type that 1.0 does
        not know is `agui.unknown`, which is no error: receivers tolerate what is newer.
Rule 2: THINKING_* of 0.1.10 and before is the same reasoning, without ids.
Rule 3: a run is done with RUN_FINISHED, or with RUN_ERROR, which ends it and what is open; without
        either it was cut. Every run is an answer, and a stream may hold several.
Rule 4: a snapshot says what the messages hold, whoever streamed them.
Rule 5: a sealed value says, as `owner_known`, whether an event before named the same message or
        call.
Rule 6: a delta of the shared state or of an activity says, as `applies`, whether it does, and a
        snapshot of the messages, as `adds_text`, `renames` and `drops_calls`, how it differs from
        what was streamed. The results of calls that it holds are `agui.result`, one each. At the
        end of the stream, what a client holds of the messages of its last run is `agui.held`, one
        each; runs before it are replays.
Rule 7: beyond `MOST_OPEN` open messages a wire event `agui.overflow` ends the semantic events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.reading import Reading
from conformance.dialects.agui.held import HeldMessages
from conformance.dialects.agui.messages import OVERFLOW, RunMessages, reasons_of
from conformance.dialects.agui.shared_state import SharedState
from conformance.dialects.agui.streamed import StreamedCalls, StreamedTexts, stated_results
from conformance.dialects.agui.wire_keys import EVENTS
from conformance.dialects.history import vocabulary
from conformance.dialects.history_calls import OF_AGUI
from conformance.dialects.json_edge import event_data, mapping, objects, string, whole
from conformance.dialects.typed import TypedReader

NAME: Final = "agui"
_CHUNKS: Final = frozenset({"TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK"})
_OF_RUNS: Final = frozenset(
    {"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED"}
)
Take = Callable[[RunMessages, dict[str, Any]], object]
_TAKEN: Final[Mapping[str, Take]] = {
    "TEXT_MESSAGE_START": lambda run, event: run.start("text", event),
    "TEXT_MESSAGE_CONTENT": lambda run, event: run.add("text", event),
    "TEXT_MESSAGE_END": lambda run, event: run.end("text", event),
    "TEXT_MESSAGE_CHUNK": lambda run, event: run.chunk("text", event),
    "REASONING_MESSAGE_START": lambda run, event: run.start("reasoning", event),
    "REASONING_MESSAGE_CONTENT": lambda run, event: run.add("reasoning", event),
    "REASONING_MESSAGE_END": lambda run, event: run.end("reasoning", event),
    "REASONING_MESSAGE_CHUNK": lambda run, event: run.chunk("reasoning", event),
    "THINKING_TEXT_MESSAGE_START": lambda run, event: run.start("reasoning", event),
    "THINKING_TEXT_MESSAGE_CONTENT": lambda run, event: run.add("reasoning", event),
    "THINKING_TEXT_MESSAGE_END": lambda run, event: run.end("reasoning", event),
    "REASONING_ENCRYPTED_VALUE": RunMessages.seal,
    "TOOL_CALL_START": RunMessages.start_call,
    "TOOL_CALL_ARGS": RunMessages.add_arguments,
    "TOOL_CALL_END": RunMessages.end_call,
    "TOOL_CALL_CHUNK": RunMessages.chunk_call,
    "MESSAGES_SNAPSHOT": lambda run, event: run.snapshot(event.get("messages")),
}
_KNOWN: Final = EVENTS.types
_OF_REQUESTS: Final = ("request.call", "request.result")
VOCABULARY: Final = vocabulary(
    NAME, *_KNOWN, "agui.unknown", "agui.result", "agui.held", *_OF_REQUESTS, OVERFLOW
)
_SEALED: Final = "REASONING_ENCRYPTED_VALUE"
_MOST_OWNERS: Final = 4096  # ids of messages and calls that are remembered
_COUNTS: Final = {"input": "inputTokens", "output": "outputTokens", "reasoning": "reasoningTokens"}


class AguiReader(TypedReader[RunMessages]):
    content_type = RunMessages
    unknown = "agui.unknown"
    is_of_api = False
    history = "messages"
    call_pairing = OF_AGUI

    def __init__(self, reading: Reading) -> None:
        self._last_held: list[dict[str, str]] = []
        self._known: set[str] = set()  # ids of what was there before the run
        self._owners: set[str] = set()
        self._state = SharedState()
        self._streamed = StreamedTexts()
        super().__init__(reading)

    def _renew(self) -> None:
        super()._renew()
        self._steps: dict[str, int] = {}
        self._stepped = 0
        self._calls = StreamedCalls()
        self._held = HeldMessages(self._known)

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind == "RUN_STARTED":
            self._announce(string(fields.get("runId")))
        self._streamed.take(kind, fields)
        self._calls.take(kind, fields)
        self._held.take(kind, fields)
        stated = event_data(payload, **self._judged(kind, fields))
        self._sink.wire(kind if kind in _KNOWN else self.unknown, stated)
        if kind == "MESSAGES_SNAPSHOT":
            for result in stated_results(fields.get("messages")):
                self._sink.wire("agui.result", result)
        elif kind == "RUN_FINISHED":
            self._last_held = list(self._held.events(self._streamed.text))
            self._known.update(each["id"] for each in self._last_held)
        self._note_owner(fields)
        if self._content.is_over:
            return
        if kind not in _CHUNKS and kind != "RAW":
            self._content.end_chunks()
        if (take := _TAKEN.get(kind)) is not None:
            take(self._content, fields)
        elif kind in _OF_RUNS:
            self._read_run(kind, fields)

    def _note_owner(self, fields: dict[str, Any]) -> None:
        for key in ("messageId", "toolCallId"):
            if (owner := string(fields.get(key))) and len(self._owners) < _MOST_OWNERS:
                self._owners.add(owner)

    def request(self, request: Request) -> list[Event]:
        self._state.begin_with(request.json)
        asked = objects(mapping(request.json).get("messages"))
        self._known.update(string(each.get("id")) for each in asked)
        return super().request(request)

    def end(self, how: Ending, number: int) -> list[Event]:
        said = super().end(how, number)
        self._sink.begin(number)
        for held in self._last_held:
            self._sink.wire("agui.held", held)
        return [*said, *self._sink.events()]

    def _judged(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """What an event means after those before it (rules 5 and 6)."""
        if kind == _SEALED:
            return self._ownership(fields)
        if kind == "MESSAGES_SNAPSHOT":
            messages = fields.get("messages")
            return {**self._streamed.held_against(messages), **self._calls.held_against(messages)}
        return self._state.take(kind, fields)

    def _ownership(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Whether the owner of a sealed value was named before; nothing where that is unknown."""
        if len(self._owners) >= _MOST_OWNERS:
            return {}
        return {"owner_known": string(fields.get("entityId")) in self._owners}

    def _read_run(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "RUN_STARTED":
            self._sink.start_message(message_id=string(fields.get("runId")))
        elif kind.startswith("STEP"):
            self._read_step(kind, string(fields.get("stepName")))
        else:
            self._content.close()
            self._is_done = True
            self._end_run(kind, fields)

    def _end_run(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "RUN_ERROR":
            error = {"code": string(fields.get("code")), "message": string(fields.get("message"))}
            self._sink.say_error({"choice": 0, **error})
            return
        self._sink.end_message(reasons_of(fields.get("outcome")), _usage(fields.get("usage")))

    def _read_step(self, kind: str, name: str) -> None:
        if kind == "STEP_STARTED":
            if len(self._steps) < 4096:
                self._steps[name] = self._stepped
            self._sink.emit("step.start", {"choice": 0, "step": self._stepped})
            self._stepped += 1
        else:
            number = self._steps.pop(name, self._stepped)
            self._sink.emit("step.end", {"choice": 0, "step": number})


def _usage(value: Any) -> dict[str, int]:
    """Counts of all models of a run together, as far as they are stated."""
    found: dict[str, int] = {}
    for each in objects(value):
        for name, key in _COUNTS.items():
            if (count := whole(each.get(key))) is not None:
                found[name] = found.get(name, 0) + count
    return found


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a run, of a message or of reasoning."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    return kind in _KNOWN and kind not in ("RAW", "CUSTOM")
