"""Dialect `copilot.cli`: the events of a session of Copilot, a line each.

Rule 1: a line is a wire event of its `type`, with the payload as it stands; a type that no rule
        needs is `line.unknown`, which is no error. A complete event of what was begun before has
        its content as `stated`, a message whether it requests the calls that were streamed
        (`as_streamed`), a tool that runs whether it was requested (`asked`). What has an `agentId`
        is of a subagent, and says nothing.
Rule 2: reasoning, messages and calls are found by their ids. The complete event gives what
        no delta gave before it. A message that states its reasoning gives that first, and the
        event of the reasoning, which follows, gives nothing.
Rule 3: a reasoning ends where a message or a call begins, a message with its complete event.
Rule 4: tools are carried out here: their calls are hosted, and end with the message that requests
        them.
Rule 5: `assistant.turn_retry` ends what is open; the model gets another request.
Rule 6: a run is done with the first of `assistant.idle`, `session.idle` and `result`, or has failed
        with `session.error`. A turn that starts after that begins the next answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects.content_blocks import ContentBlocks, Place, Slot
from conformance.dialects.copilot_cli.vocabulary import OVERFLOW, STREAMED
from conformance.dialects.json_edge import arguments_text, event_data, mapping, objects, string
from conformance.dialects.tool_call import ToolCall
from conformance.dialects.typed import ProgramReader

_REASONING, _MESSAGE, _CALL = "reasoningId", "messageId", "toolCallId"
_STATING: Final = {"assistant.reasoning": _REASONING, "assistant.message": _MESSAGE}
_ENDS: Final = frozenset({"assistant.idle", "session.idle", "result"})


class SessionBlocks(ContentBlocks):
    """What one run says."""

    overflow = OVERFLOW

    __slots__ = ("_thought", "_thoughts")

    def __init__(self, sink: Any) -> None:
        super().__init__(sink)
        self._thought = ""  # what a message stated as its reasoning, and no delta did
        self._thoughts = 0  # since the last message

    def has_begun(self, key: str, data: Mapping[str, Any]) -> bool:
        """Whether something of what this states came before."""
        return _place(key, data) in self._at

    def requests_as_streamed(self, data: Mapping[str, Any]) -> bool | None:
        """Whether a message requests the calls of the deltas before it; None where none came."""
        open_calls = [slot.tool for slot in self._open if slot.tool is not None]
        requests = {string(each.get(_CALL)): each for each in objects(data.get("toolRequests"))}
        as_sent = [_is_as_sent(call, requests.get(call.call_id)) for call in open_calls]
        return all(as_sent) if as_sent else None

    def add_reasoning(self, data: Mapping[str, Any]) -> None:
        text = string(data.get("deltaContent"))
        if text and (slot := self._open_slot(_REASONING, data)) is not None:
            self._thoughts += 1
            self.think(slot, text)

    def state_reasoning(self, data: Mapping[str, Any]) -> None:
        thought, self._thought = self._thought, ""
        text = string(data.get("content"))
        place = _place(_REASONING, data)
        if place in self._at:
            self._end_place(place)
        elif text and text != thought and (slot := self._open_slot(_REASONING, data)) is not None:
            self.think(slot, text)
            self.stop_at(place)

    def start_message(self, data: Mapping[str, Any]) -> None:
        self._end_thoughts()
        self.begin_at(_place(_MESSAGE, data))

    def add_text(self, data: Mapping[str, Any]) -> None:
        text = string(data.get("deltaContent"))
        if text and (slot := self._open_slot(_MESSAGE, data)) is not None:
            self.write(slot, text)

    def state_message(self, data: Mapping[str, Any]) -> None:
        """A complete message, with its reasoning and its calls."""
        thought, place = string(data.get("reasoningText")), _place(_MESSAGE, data)
        known = self._at.get(place)
        if known is not None and not known.is_open:
            return
        if thought and not self._thoughts and (slot := self.slot_at((_REASONING, ""))) is not None:
            self._thought = thought
            self.think(slot, thought)
        self._thoughts = 0
        self._end_thoughts()
        if sealed := string(data.get("reasoningOpaque")):
            self._blocks.opaque(None, "signature", sealed)
        if known is None or known.text is None:
            text = string(data.get("content"))
            if text and (slot := self.slot_at(place)) is not None:
                self.write(slot, text)
        self._end_place(place)
        for request in objects(data.get("toolRequests")):
            self._request(request)

    def add_input(self, data: Mapping[str, Any]) -> None:
        slot = self._call_slot(data, string(data.get("toolName")))
        text = string(data.get("inputDelta"))
        if text and slot is not None:
            self.call(slot, text)

    def _request(self, request: Mapping[str, Any]) -> None:
        place = _place(_CALL, request)
        slot = self._call_slot(request, string(request.get("name")))
        if slot is None or slot.tool is None:
            return
        text = arguments_text(request.get("arguments"))
        if text and not slot.tool.has_arguments:
            self.call(slot, text)
        self._end_place(place)

    def _call_slot(self, data: Mapping[str, Any], name: str) -> Slot | None:
        slot = self._open_slot(_CALL, data)
        if slot is not None and slot.tool is None:
            self._name_tool(slot, string(data.get(_CALL)), name, is_hosted=True)
        return slot

    def _open_slot(self, key: str, data: Mapping[str, Any]) -> Slot | None:
        if key != _REASONING:
            self._end_thoughts()
        return self.slot_at(_place(key, data))

    def _end_place(self, place: Place) -> None:
        if (slot := self._at.get(place)) is not None and slot.is_open:
            self._end_slot(slot)

    def _end_thoughts(self) -> None:
        for slot in [each for each in self._open if each.thinking is not None]:
            self._end_slot(slot)


def _is_as_sent(call: ToolCall, request: Mapping[str, Any] | None) -> bool:
    """Whether a request is a call of deltas; what is no JSON, as custom input, is not compared."""
    if request is None or request.get("name") != call.name:
        return False
    sent = decode_json(call.arguments)
    return sent is NOT_JSON or "arguments" not in request or sent == request["arguments"]


def _place(key: str, data: Mapping[str, Any]) -> Place:
    return (key, string(data.get(key)))


_ACTS: Final[Mapping[str, Callable[[SessionBlocks, Mapping[str, Any]], object]]] = {
    "assistant.reasoning_delta": SessionBlocks.add_reasoning,
    "assistant.reasoning": SessionBlocks.state_reasoning,
    "assistant.message_start": SessionBlocks.start_message,
    "assistant.message_delta": SessionBlocks.add_text,
    "assistant.message": SessionBlocks.state_message,
    "assistant.tool_call_delta": SessionBlocks.add_input,
    "assistant.turn_retry": lambda blocks, _data: blocks.close(),
}


class SessionReader(ProgramReader[SessionBlocks]):
    """Reader of one run of the command, or of several."""

    content_type = SessionBlocks
    history = "input"

    def _renew(self) -> None:
        super()._renew()
        self._asked_by_user = False

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        is_own = not fields.get("agentId")
        if kind == "assistant.turn_start" and is_own:
            self._announce("")
        data = mapping(fields.get("data"))
        key = _STATING.get(kind)
        is_stated = key is not None and is_own and self._content.has_begun(key, data)
        about = {"stated": data.get("content")} if is_stated else {}
        about |= self._about_calls(kind, data) if is_own else {}
        self._sink.wire(kind if kind in STREAMED else self.unknown, event_data(payload, **about))
        if not is_own or self._content.is_over:
            return
        if kind in _ACTS:
            self._begin_once()
            _ACTS[kind](self._content, data)
        elif kind == "session.error":
            self._content.close()
            self._is_done = True
            code, message = string(data.get("errorType")), string(data.get("message"))
            self._sink.say_error({"choice": 0, "code": code, "message": message})
        elif kind in _ENDS and not self._is_done:
            self._begin_once()
            self._content.close()
            self._say_done()

    def _about_calls(self, kind: str, data: Mapping[str, Any]) -> dict[str, bool]:
        """What a message or a tool shows of the calls before it."""
        if kind == "assistant.message":
            is_same = self._content.requests_as_streamed(data)
            return {} if is_same is None else {"as_streamed": is_same}
        self._asked_by_user |= kind == "tool.user_requested"
        if kind != "tool.execution_start" or self._asked_by_user:
            return {}
        return {"asked": self._content.has_begun(_CALL, data)}


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a session: its type, and its data."""
    fields = mapping(payload)
    kind = string(fields.get("type"))
    return (
        kind.startswith("assistant.") and kind in STREAMED and isinstance(fields.get("data"), dict)
    )
