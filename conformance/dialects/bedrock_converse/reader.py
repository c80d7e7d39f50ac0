"""Dialect `bedrock.converse`: the Converse API of Amazon Bedrock, streamed or whole.

Rule 1: a message of the event stream is a wire event of its `:event-type`, with its payload; a line
        or event of JSON whose one known key is such a type, as SDKs have it, is the same. So is
        what a `chunk` of `invoke-with-response-stream` wraps: Nova speaks Converse there.
        Everything that is raised is `exception`, with its type under `exception`.
Rule 2: a body is `converse`, then `converse.block` per content element, with its `index`. The
        body of an HTTP error is `converse.error`.
Rule 3: an answer is `done` when it has stopped and is counted (`messageStop`, `metadata`): nothing
        comes after that. One that has stopped and ends well is done, too, without a word for it;
        every other end is a cut.
Rule 4: beyond `MOST_BLOCKS` blocks a wire event `converse.overflow` ends the semantic events.
Rule 5: a message that starts after blocks or the stop of another one begins the next answer,
        where the one request is not known.
Rule 6: a request gives `request.reasoning` per block that is signed or redacted: `position` and
        `role` of its message, and the `kind` that `thinking.opaque` has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.binary import MESSAGE_TYPE
from conformance.core.events import Ending, Event, Frame, Request, Vocabulary
from conformance.core.json_values import NOT_JSON
from conformance.core.reading import Reading
from conformance.dialects import outcome
from conformance.dialects.bedrock_converse.content import OVERFLOW, Content
from conformance.dialects.bedrock_converse.wire_keys import STREAMED
from conformance.dialects.history import OF_HISTORY, request_events
from conformance.dialects.history_calls import OF_CONVERSE
from conformance.dialects.json_edge import (
    elements,
    event_data,
    mapping,
    string,
    whole,
    whole_counts,
)
from conformance.dialects.sink import Sink

NAME: Final = "bedrock.converse"
WRAPPED: Final = "chunk"  # the `:event-type` of all that an invoke stream wraps
EXCEPTIONS: Final = frozenset(
    {
        *("internalServerException", "modelStreamErrorException", "modelTimeoutException"),
        *("serviceUnavailableException", "throttlingException", "validationException"),
    }
)
VOCABULARY: Final = Vocabulary(
    NAME,
    OF_HISTORY
    | {"request.reasoning", *STREAMED, "exception", "converse", "converse.block"}
    | {"converse.error", "converse.unknown", OVERFLOW},
)
_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}


class ConverseReader:
    def __init__(self, reading: Reading) -> None:
        del reading  # blocks type their text: neither markers nor private fields apply
        self._sink = Sink()
        self._has_request = False
        self._renew()

    def _renew(self) -> None:
        self._content = Content(self._sink)
        self._has_begun = self._has_stopped = self._is_counted = self._is_done = False

    def request(self, request: Request) -> list[Event]:
        self._has_request = True
        return [*request_events(request, "messages", OF_CONVERSE), *_reasoning_back(request)]

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        self._sink.begin(number)
        fields = mapping(payload)
        if frame.kind == "body" and not (kind := _union_member(fields)):
            self._read_body(frame, payload)
        elif frame.kind == "binary" and frame.event != WRAPPED:
            raised = dict(frame.headers).get(MESSAGE_TYPE) not in ("event", None)
            self._read_event(frame.event, payload, fields, is_raised=raised, text=frame.data)
        else:
            kind = _known_member(fields)
            inner = fields[kind] if kind else payload
            is_raised = kind in EXCEPTIONS
            self._read_event(kind, inner, mapping(inner), is_raised=is_raised, text=frame.data)
        return self._sink.events()

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        if self._content.is_over:
            return []
        self._content.close()
        self._say_end(how)
        return self._sink.events()

    def _say_end(self, how: Ending) -> None:
        if how == "eof" and self._has_stopped and not self._is_done:
            self._say_done(explicit=False)
        elif not self._is_done:
            self._sink.emit("cut", {"choice": 0, "how": how})

    def echo(self, _answer: int) -> Mapping[str, Any] | None:
        return None

    def _read_event(
        self, kind: str, payload: Any, fields: dict[str, Any], *, is_raised: bool, text: str
    ) -> None:
        if is_raised:
            self._raise(kind, fields)
        elif kind not in STREAMED or payload is NOT_JSON:
            named = {"event": kind} if kind else {}
            data = {"text": text} if payload is NOT_JSON else event_data(payload)
            self._sink.wire("converse.unknown", {**data, **named})
        else:
            if kind == "messageStart" and not self._has_request:
                self._begin_answer()
            self._sink.wire(kind, event_data(payload))
            if not self._content.is_over:
                self._read_known(kind, fields)

    def _begin_answer(self) -> None:
        """Rule 5."""
        if not (self._has_stopped or self._content.has_blocks):
            return
        if not self._content.is_over:
            self._content.close()
            self._say_end("eof")
        self._sink.next_answer()
        self._renew()

    def _read_known(self, kind: str, fields: dict[str, Any]) -> None:
        content = self._content
        if kind == "messageStart":
            content.renew()
            self._begin_message(fields)
        elif kind == "metadata":
            self._count_tokens(fields)
            self._is_counted = True
            self._settle()
        elif kind == "messageStop":
            content.close()
            self._say_finish(fields)
            self._has_stopped = True
            self._settle()
        else:
            if not self._has_begun:
                self._begin_message({})
            read = {"contentBlockStart": content.start, "contentBlockDelta": content.delta}
            read.get(kind, content.stop)(fields)

    def _raise(self, kind: str, fields: dict[str, Any]) -> None:
        self._sink.wire("exception", {**fields, "exception": kind})
        status = whole(fields.get("originalStatusCode"))
        message = string(fields.get("message")) or string(fields.get("originalMessage"))
        stated = {} if status is None else {"status": status}
        self._sink.say_error({"choice": 0, "code": kind, "message": message, **stated})

    def _read_body(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        message = mapping(mapping(fields.get("output")).get("message"))
        if not message:
            self._read_other_body(frame, payload, fields)
            return
        self._sink.wire("converse", fields)
        content = elements(message.get("content"))
        for index, block in enumerate(content):
            self._sink.wire("converse.block", {**event_data(block), "index": index})
        self._begin_message(message)
        self._content.whole(content)
        self._say_finish(fields)
        self._count_tokens(fields)
        self._has_stopped = True

    def _read_other_body(self, frame: Frame, payload: Any, fields: dict[str, Any]) -> None:
        # The API has `message`, what signs requests in front of it `Message`.
        if message := string(fields.get("message")) or string(fields.get("Message")):
            self._sink.wire("converse.error", fields)
            self._sink.say_error(outcome.error(message))
        else:
            data = {"text": frame.data} if payload is NOT_JSON else event_data(payload)
            self._sink.wire("converse.unknown", data)

    def _begin_message(self, fields: dict[str, Any]) -> None:
        self._has_begun = True
        self._has_stopped = self._is_counted = self._is_done = False
        role = string(fields.get("role")) or "assistant"
        self._sink.start_message(role)

    def _say_finish(self, fields: dict[str, Any]) -> None:
        if reason := string(fields.get("stopReason")):
            self._sink.end_choice(_REASONS.get(reason, reason))

    def _count_tokens(self, fields: dict[str, Any]) -> None:
        """Counts that are missing or not whole numbers are left out; none says nothing."""
        names = {"input": "inputTokens", "output": "outputTokens", "total": "totalTokens"}
        self._sink.say_usage(whole_counts(fields.get("usage"), names))

    def _settle(self) -> None:
        """Rule 3."""
        if self._has_stopped and self._is_counted and not self._is_done:
            self._say_done(explicit=True)

    def _say_done(self, *, explicit: bool) -> None:
        self._is_done = True
        self._sink.emit("done", {"choice": 0, "explicit": explicit})


def _reasoning_back(request: Request) -> Iterator[Event]:
    """Rule 6."""
    for position, message in enumerate(elements(mapping(request.json).get("messages"))):
        fields = mapping(message)
        for block in elements(fields.get("content")):
            reasoning = mapping(mapping(block).get("reasoningContent"))
            kind = "redacted" if reasoning.get("redactedContent") else ""
            if mapping(reasoning.get("reasoningText")).get("signature"):
                kind = "signature"
            if kind:
                data = {"position": position, "role": string(fields.get("role")), "kind": kind}
                yield Event("request.reasoning", data, 0, "wire")


def _union_member(fields: Mapping[str, Any]) -> str:
    """The type of an event that stands as the one key around it; empty where it is none."""
    key = next(iter(fields), "") if len(fields) == 1 else ""
    is_member = key in STREAMED or key in EXCEPTIONS
    return key if is_member and isinstance(fields[key], dict) else ""


def _known_member(fields: Mapping[str, Any]) -> str:
    """The one known type of an event among its keys: keys that are unknown do not hide it."""
    known = {key: value for key, value in fields.items() if key in STREAMED | EXCEPTIONS}
    return _union_member(known)


def recognises(frame: Frame, payload: Any) -> bool:
    """An event by its type, in its frame or around it; a body by its message and stop reason."""
    fields = mapping(payload)
    if frame.kind == "binary" and frame.event in STREAMED | EXCEPTIONS:
        return True
    is_body = isinstance(fields.get("output"), dict) and "stopReason" in fields
    kind = _union_member(fields)
    if kind == "metadata":  # a common word: counts or times of an answer make it this event
        return bool(fields[kind].keys() & {"usage", "metrics"})
    return bool(kind) or is_body
