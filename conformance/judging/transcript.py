"""An exchange read once: its content, as a correct client would have it, and how it ended.

Events are read only once. A transcript collects what must be kept of them: while the judge reads
the bytes (`check_wire`), or by itself (`read_transcript`). It holds the texts of the answer and the
events of the requested layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.core.events import Event, Exchange, Layer
from conformance.dialects.base import Dialect, Reading
from conformance.judging.fast.joined import read_joined
from conformance.judging.findings import RecentFrames, make_finding, wire_kind, with_request
from conformance.judging.result import Finding
from conformance.rules.about import NOTHING, About
from conformance.rules.forms.base import Violation
from conformance.rules.model import Rule

WHOLE_ENDS: Final = frozenset({"complete", "length", "tools", "filtered"})
"""Words of `Transcript.ending` for an answer that is all there."""

_LEAST_REFUSAL: Final = 300
_FINISHES: Final = {"stop": "complete", "length": "length", "content_filter": "filtered"}
_BROKEN_OFF: Final = frozenset({"interrupted", "incomplete"})
"""Reasons that say that the answer is not all there, in no word for a limit or a filter."""
_BROKEN: Final = frozenset({"cut", "failed"})
_UNHEARD: Final = frozenset({"client-closed", "idle-timeout"})


class Transcript(Struct):
    """The texts of all choices, and what ended them; `memory` holds the last frames.

    `keep` is the layer whose events stay in `events`, those of the request left out; the judge
    may join adjacent deltas to one.
    """

    exchange: Exchange
    keep: Layer | None = None
    events: list[Event] = field(default_factory=list)
    types: set[str] = field(default_factory=set)  # of semantic events
    thinking: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)  # thinking itself, without summaries of it
    summary: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # thinking, summary, text, tool: as they came
    text: list[str] = field(default_factory=list)
    tools: list[Mapping[str, Any]] = field(default_factory=list)
    opaque: list[Mapping[str, Any]] = field(default_factory=list)
    finishes: list[str] = field(default_factory=list)
    errors: list[Mapping[str, Any]] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    done: bool = False
    has_done: bool = False  # a separate event said so
    listed: bool = False  # a list of models
    choices: int = 0  # how many spoke or finished
    last: int = 0  # number of the last event
    broke_at: int = 0  # number of the event that says that the answer broke off
    memory: RecentFrames = field(default_factory=RecentFrames)

    @property
    def client_events(self) -> tuple[Mapping[str, Any], ...]:
        """What a client should report, in the order of the bytes; needs `keep` of `semantic`."""
        spoken = (event for event in self.events if event.layer == "semantic")
        return tuple({"type": event.type, **event.data} for event in spoken)

    @property
    def client_end(self) -> Literal["completed", "broken", "either"]:
        """Which end a client may report.

        `either` if the finish came and the stream broke off before its terminal event, or stayed
        open after it: the answer is complete.
        """
        if self.ending in WHOLE_ENDS and self.exchange.end not in _UNHEARD:
            return "completed"
        return "either" if self.finishes and not self.errors else "broken"

    @property
    def ending(self) -> str:
        """How it ended: a word of `scenarios.ENDS`."""
        response = self.exchange.response
        if is_refusal(self.exchange) and response is not None:
            return "refused" if 400 <= (response.status or 0) < 500 else "failed"
        if self.errors or "error" in self.finishes:
            return "refused" if self._is_refused_by_error else "failed"
        if self.listed and self.exchange.end == "eof":
            return "complete"
        # What said that it is over is whole, though its connection stays open or we hang up.
        is_unheard = self.exchange.end in _UNHEARD and not self.has_done
        if not self.done or is_unheard or _BROKEN_OFF.intersection(self.finishes):
            return "cut"
        if self.own_tools or "tool_calls" in self.finishes:
            return "tools"
        # Several choices end each for itself: the first that says more than `stop` counts.
        words = [_FINISHES.get(reason, "complete") for reason in self.finishes]
        return next((word for word in words if word != "complete"), "complete")

    @property
    def _is_refused_by_error(self) -> bool:
        """Whether all that came over a WebSocket is an error with the status of a refusal."""
        response = self.exchange.response
        is_socket = response is not None and response.is_upgrade
        status = self.errors[0].get("status") if self.errors else None
        is_status = isinstance(status, int) and 400 <= status < 500
        return is_socket and is_status and not self.answers

    @property
    def own_tools(self) -> list[Mapping[str, Any]]:
        """Calls that are the client's to carry out, in the order in which they ended."""
        return [call for call in self.tools if not call.get("hosted")]

    @property
    def thought(self) -> bool:
        """Whether any thinking showed, be it sealed."""
        return bool(self.thinking or self.opaque)

    @property
    def answers(self) -> bool:
        """Whether there was any content, or an event that ends the answer."""
        return bool(self.order or self.opaque or self.tools or self.finishes or self.listed)

    def spoken(self) -> tuple[str, ...]:
        """Everything that the model chose, to compare two answers by."""
        calls = (f"{each.get('name')}({each.get('arguments')})" for each in self.tools)
        return "".join(self.thinking), "".join(self.text), *calls

    def take(self, events: Sequence[Event]) -> None:
        """What one frame gave rise to."""
        for event in events:
            if event.layer == "semantic":
                self.types.add(event.type)
                if event.type == "error" or event.data.get("reason") in _BROKEN_OFF:
                    self.broke_at = self.broke_at or event.number
                self._take_semantic(event)
            elif event.type == "models":
                request = self.exchange.request
                # A list is no answer to a question, which is always sent by POST.
                self.listed = request is None or request.method != "POST"
            if event.layer == self.keep and event.number:
                self.events.append(event)

    def _take_semantic(self, event: Event) -> None:
        data = event.data
        self.choices = max(self.choices, data.get("choice", 0) + 1)
        match event.type:
            case "thinking.delta":
                self.thinking.append(data["text"])
                is_summary = data.get("channel") == "summary"
                (self.summary if is_summary else self.raw).append(data["text"])
                self._came("summary" if is_summary else "thinking", data["text"])
            case "thinking.opaque":
                self.opaque.append(data)
            case "text.delta" | "refusal.delta":
                self.text.append(data["text"])
                self._came("text", data["text"])
            case "tool.start":
                self._came("tool", "called")
            case "tool.end":
                self.tools.append(data)
            case "finish":
                self.finishes.append(str(data.get("reason")))
            case "error":
                self.errors.append(data)
            case "usage":
                self.usage = data
            case "done":
                self.done = True
                self.has_done = self.has_done or bool(data.get("explicit"))

    def _came(self, kind: str, text: str) -> None:
        if text.strip() and self.order[-1:] != [kind]:
            self.order.append(kind)


def is_refusal(exchange: Exchange) -> bool:
    """Whether the status says that no answer comes: HTTP 3xx to 5xx."""
    status = exchange.response.status if exchange.response else None
    return status is not None and status >= _LEAST_REFUSAL


def read_transcript(
    exchange: Exchange, dialect: Dialect, reading: Reading, *, keep: Layer | None = None
) -> Transcript:
    """Reads the bytes once: event by event where a layer is kept, else with deltas joined."""
    transcript = Transcript(exchange, keep)
    for number, frames, events, _ in read_joined(exchange, dialect, reading, joins=keep is None):
        if frames:
            transcript.memory.recall(number, frames, wire_kind(frames[0], events))
        transcript.take(events)
        transcript.last = number
    size = sum(len(chunk.data) for chunk in exchange.chunks)
    transcript.memory.remember(transcript.last, "end of stream", exchange.end, size)
    return transcript


def says_anything(exchange: Exchange, dialect: Dialect, reading: Reading) -> bool:
    """Whether an answer has text, thinking or a call; its bytes are read no further than that."""
    transcript = Transcript(exchange)
    for each in read_joined(exchange, dialect, reading):
        transcript.take(each.events)
        if transcript.order or transcript.opaque:
            return True
    return False


def finding_at_end(
    rule: Rule,
    transcript: Transcript,
    message: str,
    *,
    expected: tuple[str, ...] = (),
    got: str = "",
    about: About = NOTHING,
) -> Finding:
    """A finding at the end of an answer; its id knows `expected` and `got`, not the message.

    Where an event says that the answer broke off, and the finding is of that, it is at that event.
    Its context begins with the request.
    """
    at = (transcript.broke_at if got in _BROKEN else 0) or transcript.last
    violation = Violation(at, {}, expected, got, "", message, about=about)
    found = _finding(rule, transcript, violation)
    return with_request(found, transcript.exchange.request)


def finding_at_request(rule: Rule, transcript: Transcript, message: str) -> Finding:
    """A finding at the request of an answer; its id does not know the message."""
    return _finding(rule, transcript, Violation(0, {}, (), "", "", message))


def _finding(rule: Rule, transcript: Transcript, violation: Violation) -> Finding:
    exchange = transcript.exchange
    where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/wire"
    return make_finding(rule, violation, transcript.memory, where)
