"""The trace of one exchange: transport, wire and semantic events, frame by frame.

It is not stored, but rebuilt from the bytes on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.core.events import Ending, Event, Exchange, Frame, Request, Response
from conformance.core.framing import Framing, exchange_frames
from conformance.core.json_values import NOT_JSON, decode_json, repeated_key
from conformance.core.reading import Reader

_IGNORED: Final[Mapping[str, str]] = {
    "ignored": "sse.ignored",
    "ignored-line": "line.ignored",
    "ignored-binary": "binary.ignored",
    "ignored-element": "element.ignored",
}


class TracedFrame(NamedTuple):
    """One frame and its events. `frame` is None for the heads (number 0) and for the end.

    `ms` since the response head; None once a chunk has no clock.
    """

    number: int
    ms: float | None
    frame: Frame | None
    events: Sequence[Event]


class FrameTrace:
    """Numbers frames from 1 and gives the events each of them gave rise to."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.number = 0
        self._answer = 1  # that the last frame belongs to
        self._of_body: Mapping[str, str] = {}  # extra fields for the event of a whole body

    def head(self, request: Request | None, response: Response | None) -> list[Event]:
        """Events of number 0: the request, and the head of the response."""
        events: list[Event] = []
        if request is not None:
            request_head = {
                "method": request.method,
                "path": request.path,
                "headers": {name.lower(): value for name, value in request.headers},
                "host": request.host,
            }
            events.append(Event("http.request", request_head, 0, "transport"))
            events.extend(self.reader.request(request) if request.json is not None else ())
        if response is not None and response.status is not None:
            events.append(Event("http.response", response.as_event, 0, "transport"))
        return events

    def frame(self, frame: Frame) -> list[Event]:
        """Events of the next frame, transport first."""
        number = self.number = self.number + 1
        kind, data = frame.kind, frame.data
        if kind == "event":
            payload = decode_json(data)
            fields = {"event": frame.event, "named": frame.named, "id": frame.id, "data": data}
            if payload is not NOT_JSON:
                fields["json"] = payload
                if key := repeated_key(data, payload):
                    fields["repeated_key"] = key
            return self._headed("sse.frame", fields, self.reader.read(frame, payload, number))
        if kind == "comment":
            return self._headed("sse.comment", {"text": data}, [])
        if kind in _IGNORED:
            return self._headed(_IGNORED[kind], {"reason": frame.event, "text": data}, [])
        payload = frame_payload(frame)
        events = self.reader.read(frame, payload, number)
        key = "" if kind == "text" else repeated_key(data, payload)
        stated = {"repeated_key": key} if key else {}
        if kind in ("text", "body"):
            held = _body_held(events) if kind == "body" else ""
            self._of_body = {**stated, **({"body": held} if held else {})}
            return events
        known = {"data": data, **stated, **({} if payload is NOT_JSON else {"json": payload})}
        if kind == "binary":
            headed = {"event": frame.event, "headers": dict(frame.headers), **known}
            return self._headed("binary.frame", headed, events)
        return self._headed(f"{kind}.frame", known, events)

    def _headed(self, kind: str, fields: Mapping[str, Any], events: list[Event]) -> list[Event]:
        """The events of a frame after its transport event, which belongs to the same answer.

        Events that end the previous answer stay in front.
        """
        if events and events[-1].answer == 1:  # the usual case
            return [Event(kind, fields, self.number, "transport"), *events]
        answer = events[-1].answer if events else self._answer
        head = Event(kind, fields, self.number, "transport", answer)
        if answer == self._answer:
            return [head, *events]
        self._answer = answer
        ended = [each for each in events if each.answer < answer]
        return [*ended, head, *events[len(ended) :]]

    def end(self, how: Ending) -> list[Event]:
        """What the end itself gives rise to; it counts as one more frame."""
        self.number += 1
        data = {"how": how, **self._of_body}
        transport = Event("http.end", data, self.number, "transport", self._answer)
        return [transport, *self.reader.end(how, self.number)]


def _body_held(events: Sequence[Event]) -> str:
    """What a whole body is: an answer, nothing but an error, or (empty) neither."""
    types = {event.type for event in events if event.layer == "semantic"}
    if "error" not in types:
        return "answer" if types else ""
    return "error" if types == {"error"} else ""


def frame_payload(frame: Frame) -> Any:
    """What a reader is given of a frame: its text where that is raw, else JSON or NOT_JSON."""
    return frame.data if frame.kind == "text" else decode_json(frame.data)


def trace_exchange(
    exchange: Exchange, reader: Reader, expected: Framing | None = None
) -> Iterator[TracedFrame]:
    """Every frame of a recorded exchange, from the request to the end, one at a time."""
    trace = FrameTrace(reader)
    yield TracedFrame(0, 0.0, None, trace.head(exchange.request, exchange.response))
    ms: float | None = 0.0
    for frame, ms in exchange_frames(exchange, expected):
        events = trace.frame(frame)
        yield TracedFrame(trace.number, ms, frame, events)
    events = trace.end(exchange.end)
    yield TracedFrame(trace.number, ms, None, events)
