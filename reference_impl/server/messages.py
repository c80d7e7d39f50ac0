"""Messages: a request becomes a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.datastructures import Headers

from .ask import check_model, prompted
from .call_arguments import ArgumentsError, call_arguments
from .defects import Scene
from .fields import Fields, typed
from .messages_request import MessagesRequest, ask_of, wanted_effort
from .messages_stream import Display, MessagesShape, MessagesStream
from .plan import Plan
from .projection import projected
from .refusal import anthropic_error
from .service import Service
from .settings import Settings
from .wire import Wire

# Delta type -> the field that it adds to, of the delta and of the block.
_ADDS: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}


class MessagesBody:
    """Adds up events; `body` is the message, or the error that ended it."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: list[dict[str, Any]] = []
        self._error: Mapping[str, Any] | None = None
        self._steps: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "message_start": self._start,
            "content_block_start": self._begin,
            "content_block_delta": self._add,
            "message_delta": self._finish,
            "error": self._fail,
        }

    def add(self, wire: Wire) -> None:
        if not isinstance(wire.data, str) and (step := self._steps.get(wire.data["type"])):
            step(wire.data)

    def body(self) -> tuple[int, Mapping[str, Any]]:
        """Status and payload."""
        if self._error is not None:
            return 500, self._error
        try:
            content = [_closed(block) for block in self._blocks]
        except ArgumentsError as err:
            return 500, anthropic_error(str(err))
        return 200, {**self._message, "content": content}

    def _start(self, event: Mapping[str, Any]) -> None:
        self._message = dict(event["message"])

    def _begin(self, event: Mapping[str, Any]) -> None:
        block = dict(event["content_block"])
        self._blocks.append({**block, "input": ""} if "input" in block else block)

    def _add(self, event: Mapping[str, Any]) -> None:
        taken, field = _ADDS[event["delta"]["type"]]
        self._blocks[-1][field] += event["delta"][taken]

    def _finish(self, event: Mapping[str, Any]) -> None:
        counted = {name: event[name] for name in ("usage",) if name in event}
        self._message |= {**event["delta"], **counted}

    def _fail(self, event: Mapping[str, Any]) -> None:
        self._error = event


def _closed(block: dict[str, Any]) -> dict[str, Any]:
    if "input" not in block:
        return block
    return {**block, "input": call_arguments(block["input"])}


def plan(service: Service, fields: Fields, headers: Headers) -> Plan:
    """How to answer. Raises Refusal."""
    del headers
    request = typed(fields, MessagesRequest)
    check_model(service, request.model)
    signature, redaction = service.seal("signature"), service.seal("redaction")
    ask = ask_of(request, wanted_effort(request), signature, redaction)
    prompt = prompted(service.model, ask)
    display = _display(service.settings, request)
    shape = MessagesShape(service.model_id, signature, redaction, display)
    scene = Scene("messages", thinks=ask.thinks, streams=bool(request.stream))
    begin = service.faulty(lambda: service.model.generate(prompt, ask.limits), scene)
    wires = projected(begin, MessagesStream(shape, service.stamp))
    return Plan(wires, None if request.stream else MessagesBody(), scene)


def _display(settings: Settings, request: MessagesRequest) -> Display:
    if settings.messages_thinking == "redacted":
        return "redacted"
    return "omitted" if request.omits_thinking else "shown"
