"""What one exchange said, as a correct client would have it, and how it ended in a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.core.events import Event, Exchange
from conformance.dialects.base import Dialect, Reading
from conformance.judging.findings import Memory, dress
from conformance.judging.result import Finding
from conformance.rules.model import Rule
from conformance.rules.monitors.base import Violation

WHOLE_ENDS: Final = frozenset({"complete", "length", "tools", "filtered"})
"""Words of `ended` for an answer that is all there."""

_FINISHES: Final = {"stop": "complete", "length": "length", "content_filter": "filtered"}


@dataclass(slots=True)
class Answer:
    """The texts of all choices, and what ended them; `memory` holds the last frames."""

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
    listed: bool = False  # a list of models
    choices: int = 0  # how many spoke or finished
    last: int = 0  # number of the last event
    memory: Memory = field(default_factory=Memory)

    @property
    def thought(self) -> bool:
        """Whether any thinking showed, be it sealed."""
        return bool(self.thinking or self.opaque)

    def spoken(self) -> tuple[str, ...]:
        """Everything that the model chose, to compare two answers by."""
        calls = (f"{each.get('name')}({each.get('arguments')})" for each in self.tools)
        return "".join(self.thinking), "".join(self.text), *calls

    def take(self, event: Event) -> None:
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

    def _came(self, kind: str, text: str) -> None:
        if text.strip() and self.order[-1:] != [kind]:
            self.order.append(kind)


def read_answer(exchange: Exchange, dialect: Dialect, reading: Reading) -> Answer:
    """Reads the bytes once, event by event."""
    answer = Answer()
    for number, _, frame, events in dialect.trace(exchange, reading):
        if frame is not None:
            answer.memory.keep(number, frame, events)
        _take(answer, events)
        answer.last = number
    size = sum(len(chunk.data) for chunk in exchange.chunks)
    answer.memory.tell(answer.last, "end of stream", exchange.end, size)
    return answer


def wire_events(exchange: Exchange, dialect: Dialect, reading: Reading) -> Iterator[Event]:
    """The decoded payloads, for who needs more than what a client would report."""
    for number, _, _, events in dialect.trace(exchange, reading):
        yield from (event for event in events if event.layer == "wire" and number)


def ended(exchange: Exchange, answer: Answer) -> str:
    """How it ended: a word of `scenarios.ENDS`."""
    status = exchange.response.status if exchange.response else None
    if status is not None and status >= 300:
        return "refused" if 400 <= status < 500 else "failed"
    if answer.errors:
        return "failed"
    if answer.listed and exchange.end == "eof":
        return "complete"
    if not answer.done or exchange.end in ("client-closed", "idle-timeout"):
        return "cut"
    if answer.tools or "tool_calls" in answer.finishes:
        return "tools"
    # Several choices end each for itself: the first that says more than `stop` counts.
    words = [_FINISHES.get(reason, "complete") for reason in answer.finishes]
    return next((word for word in words if word != "complete"), "complete")


def finding_at_end(
    rule: Rule,
    exchange: Exchange,
    answer: Answer,
    message: str,
    *,
    expected: tuple[str, ...] = (),
    got: str = "",
) -> Finding:
    """A finding at the end of an answer; its id knows `expected` and `got`, not the message."""
    where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/wire"
    violation = Violation(answer.last, {}, expected, got, "", message)
    return dress(rule, violation, answer.memory, where)


def _take(answer: Answer, events: Sequence[Event]) -> None:
    for event in events:
        if event.layer == "semantic":
            answer.take(event)
        elif event.type == "models":
            answer.listed = True
