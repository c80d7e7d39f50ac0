"""Dialect `otel.genai`: one call of a model, as spans and events of OpenTelemetry keep it.

Nothing of it is a stream: an importer makes a request of what the model was given, and a body of
what it answered. Attributes have their names without `gen_ai.`, with underscores for dots.

Rule 1: a body is `otel.answer` with its `messages` counted, then `otel.message` per message with
        its `choice` and what it `counts` of each kind of part, then `otel.part` per part with its
        type as `kind`. `reasons_match` says whether the reasons of the answer are those of its
        messages, `reasoning_fits` whether its tokens of reasoning are among those of the output.
Rule 2: a message is a choice. Its reason to finish counts; where it has none, that of the answer.
Rule 3: parts of type `reasoning` are thinking, and so are those of type `thinking`. A call of a
        server's tool is hosted. Blobs, files and unknown parts say nothing.
Rule 4: an `error_type` is an error: then no message is owed.
Rule 5: a request gives `request.part` per part of its messages, with `position`, `role` and `kind`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.events import Event, Frame, Request
from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import (
    arguments_text,
    elements,
    event_data,
    mapping,
    string,
    whole,
)
from conformance.dialects.otel_genai.vocabulary import (
    ANSWER,
    ANSWERS,
    GIVEN,
    MESSAGE,
    OVERFLOW,
    PART,
    THOUGHTS,
    UNKNOWN,
)
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall
from conformance.dialects.typed import TypedReader

REASONS: Final = {"tool_call": "tool_calls"}
_REASONED: Final = ("usage_reasoning_output_tokens", "usage_reasoning_tokens")
_CALLS: Final = {"tool_call": "arguments", "server_tool_call": "server_tool_call"}
_OF_OTHERS: Final = frozenset({"error", "type", "object", "choices", "message", "detail"})
_MOST_MESSAGES: Final = 256
_MOST_PARTS: Final = 4096


class AnswerState:
    """How much of an answer was read; a body says all at once, so that nothing stays open."""

    __slots__ = ("is_over", "parts")

    def __init__(self) -> None:
        self.parts = 0
        self.is_over = False

    def close(self) -> None:
        """Ends nothing: every message ended itself."""


class ChoiceParts:
    """The parts of one message, one after the other."""

    __slots__ = ("_blocks", "_calls", "_choice", "_run", "_sink")

    def __init__(self, choice: int, sink: Sink) -> None:
        self._choice = choice
        self._sink = sink
        self._blocks = Blocks(choice, sink)
        self._calls = 0
        self._run: Block | None = None

    def add_part(self, part: Mapping[str, Any]) -> None:
        """Adds a part; neighbours of one kind are one text."""
        kind = string(part.get("type"))
        if kind in _CALLS:
            self._call(part, part.get(_CALLS[kind]), is_hosted=kind != "tool_call")
        elif (text := string(part.get("content"))) and kind in THOUGHTS:
            if self._run is None or self._run.channel is None:
                self.close()
                self._run = self._blocks.think("raw")
            self._blocks.thought(self._run, "raw", text)
        elif text and kind == "text":
            if self._run is None or self._run.channel is not None:
                self.close()
                self._run = self._blocks.write()
            self._blocks.text(self._run, text)
        if kind in THOUGHTS and (signature := string(part.get("signature"))):
            self._blocks.opaque(self._run, "signature", signature)

    def close(self) -> None:
        """Ends the text under way."""
        self._blocks.close(self._run)
        self._run = None

    def _call(self, part: Mapping[str, Any], arguments: Any, *, is_hosted: bool) -> None:
        self.close()
        names = string(part.get("id")), string(part.get("name"))
        call = ToolCall(self._choice, self._calls, *names, is_hosted=is_hosted)
        self._calls += 1
        call.start(self._sink)
        if text := arguments_text(arguments):
            call.add(self._sink, text)
        call.end(self._sink)


class TelemetryReader(TypedReader[AnswerState]):
    unknown = UNKNOWN
    history = GIVEN

    def _new_content(self) -> AnswerState:
        return AnswerState()

    def request(self, request: Request) -> list[Event]:
        return [*super().request(request), *_given_parts(request.json)]

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        """Spans are no stream: whatever comes as one is judged as the body that it should be."""
        self._read_body(payload)

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        self._is_whole = True
        if not is_answer(fields):
            self._sink.wire(UNKNOWN, event_data(payload))
            return
        messages = elements(fields.get(ANSWERS))[:_MOST_MESSAGES]
        reasons = elements(fields.get("response_finish_reasons"))
        self._sink.wire(ANSWER, {**fields, **_agreements(fields, messages)})
        self._has_begun = bool(messages)
        for choice, message in enumerate(messages):
            self._say_message(choice, message, reasons)
        if code := string(fields.get("error_type")):
            self._sink.say_error({"choice": 0, "code": code, "message": ""})
        self._count(fields)

    def _say_message(self, choice: int, value: Any, reasons: list[Any]) -> None:
        message = mapping(value)
        parts = elements(message.get("parts"))
        counts = Counter(string(mapping(part).get("type")) for part in parts)
        self._sink.wire(MESSAGE, event_data(value, choice=choice, counts=dict(counts)))
        self._sink.start_message(string(message.get("role")), choice=choice)
        shown = ChoiceParts(choice, self._sink)
        for part in parts:
            self._content.parts += 1
            if self._content.parts > _MOST_PARTS:
                if not self._content.is_over:
                    self._sink.wire(OVERFLOW, {})
                self._content.is_over = True
                break
            kind = mapping(part).get("type")
            self._sink.wire(PART, event_data(part, kind=kind, choice=choice))
            shown.add_part(mapping(part))
        shown.close()
        reason = string(message.get("finish_reason")) or _at(reasons, choice)
        if reason:
            self._sink.finish(REASONS.get(reason, reason), choice)

    def _count(self, fields: Mapping[str, Any]) -> None:
        self._sink.say_usage(
            {
                "input": whole(fields.get("usage_input_tokens")),
                "output": whole(fields.get("usage_output_tokens")),
                "reasoning": _reasoned(fields),
                "total": whole(fields.get("usage_total_tokens")),
            }
        )


def _agreements(fields: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
    """Rule 1: how many messages there are, and what of the answer agrees with itself."""
    found: dict[str, Any] = {"messages": len(messages)}
    if reasons := elements(fields.get("response_finish_reasons")):
        found["reasons_match"] = reasons == [
            mapping(each).get("finish_reason") for each in messages
        ]
    output, reasoned = whole(fields.get("usage_output_tokens")), _reasoned(fields)
    if output is not None and reasoned is not None:
        found["reasoning_fits"] = reasoned <= output
    return found


def _reasoned(fields: Mapping[str, Any]) -> int | None:
    counts = (whole(fields.get(key)) for key in _REASONED)
    return next((n for n in counts if n is not None), None)


def _at(reasons: list[Any], choice: int) -> str:
    return string(reasons[choice]) if choice < len(reasons) else ""


def _given_parts(body: Any) -> Iterator[Event]:
    """Rule 5."""
    for position, entry in enumerate(elements(mapping(body).get(GIVEN))):
        fields = mapping(entry)
        about = {"position": position, "role": fields.get("role")}
        for part in elements(fields.get("parts")):
            data = event_data(part, kind=mapping(part).get("type"), **about)
            yield Event("request.part", data, 0, "wire")


def is_answer(fields: Mapping[str, Any]) -> bool:
    """Whether a body is what telemetry keeps of an answer."""
    is_failure = isinstance(fields.get("error_type"), str) and not fields.keys() & _OF_OTHERS
    return isinstance(fields.get(ANSWERS), list) or is_failure


def recognises(_frame: Frame, payload: Any) -> bool:
    """What is kept of an answer, be it of its failure: no other API has such keys."""
    return is_answer(mapping(payload))
