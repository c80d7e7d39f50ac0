"""Judges one exchange: bytes to events, events to verdicts, violations to findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.check.dressing import Memory, dress
from conformance.check.result import Finding, StreamResult
from conformance.check.rulebook import Bound
from conformance.check.trace import Framer, Trace, is_body
from conformance.dialects.base import Dialect
from conformance.events import Ending, Event, Exchange, Frame
from conformance.profiles import Profile, reading
from conformance.rules.applies import Evidence, Fidelity
from conformance.rules.engine import Judge, Outcome
from conformance.rules.monitors.gather import Contribution
from conformance.rules.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Setting:
    """How an exchange is judged: dialect, profile and what was recorded of it."""

    dialect: Dialect
    profile: Profile
    bound: Bound
    file: str = ""
    fidelity: Fidelity = "bytes"
    named: bool = True  # somebody named the profile
    keep: bool = False


@dataclass(slots=True)
class Judged:
    """The result of one view of one exchange, and what it brings to comparisons."""

    result: StreamResult
    contributions: list[tuple[str, Contribution]] = field(default_factory=list)


class StreamCheck:
    """Feeds one exchange to a judge, chunk by chunk; `finish` gives the result."""

    def __init__(self, setting: Setting, exchange: Exchange, *, clock: bool) -> None:
        self.setting = setting
        self.exchange = exchange
        self.reader = setting.dialect.reader(reading(setting.profile))
        self.trace = Trace(self.reader)
        self.judge = Judge(setting.bound.rules, self._evidence(clock=clock))
        self.memory = Memory()
        self.findings: list[Finding] = []
        self.events: list[Event] = []
        self.bytes = 0
        self._framer: Framer | None = None
        self._label = f"{exchange.scenario}/{exchange.role}/{exchange.number}"
        self._take(self.trace.head(exchange.request, exchange.response))

    def _evidence(self, *, clock: bool) -> Evidence:
        return Evidence(
            self.exchange.request,
            self.exchange.response,
            self.setting.fidelity,
            clock=clock,
            echo=self.reader.echo,
        )

    def feed(self, data: bytes, ms: float | None) -> None:
        """Takes the next chunk; `ms` since the response head, None without a clock."""
        self.bytes += len(data)
        if self._framer is None:
            self._framer = Framer(body=is_body(self.exchange.response, data))
        self.judge.ms = ms
        for frame in self._framer.feed(data):
            self._frame(frame)

    def _frame(self, frame: Frame) -> None:
        events = self.trace.frame(frame)
        self.memory.keep(self.trace.number, frame, events)
        self._take(events)

    def _take(self, events: list[Event]) -> None:
        for event in events:
            self.judge.read(event)
        self.judge.settle()
        if self.setting.keep:
            self.events.extend(events)
        self._dress()

    def _dress(self) -> None:
        for rule, violation in self.judge.fresh:
            level = rule.level
            self.findings.append(dress(rule, level, violation, self.memory, self._label))
        self.judge.fresh.clear()

    def finish(self, how: Ending) -> Judged:
        """Ends the stream and gives verdicts and findings."""
        for frame in self._framer.close() if self._framer else ():
            self._frame(frame)
        events = self.trace.end(how)
        self.memory.end(self.trace.number, self.bytes, how)
        self._take(events)
        outcomes = self.judge.close(how)
        self._dress()
        return self._judged(outcomes, "wire")

    def _judged(self, outcomes: Iterable[Outcome], view: Literal["wire", "client"]) -> Judged:
        setting, exchange = self.setting, self.exchange
        off = setting.bound.off
        verdicts = {outcome.rule.id: outcome.verdict for outcome in outcomes}
        reasons = {o.rule.id: o.reason for o in outcomes if o.reason}
        result = StreamResult(
            file=setting.file,
            exchange=exchange.number,
            dialect=setting.dialect.name,
            profile=setting.profile.name,
            named=setting.named,
            verdicts={**verdicts, **dict.fromkeys(off, Verdict.NOT_APPLICABLE)},
            findings=tuple(sorted(self.findings, key=lambda f: (f.event, f.rule))),
            scenario=exchange.scenario,
            role=exchange.role,
            view=view,
            reasons={**reasons, **{rule: f"the profile says: {why}" for rule, why in off.items()}},
            events=tuple(self.events),
        )
        return Judged(result, contributions(exchange, view, self.judge))


def contributions(
    exchange: Exchange, view: Literal["wire", "client"], judge: Judge
) -> list[tuple[str, Contribution]]:
    """What this exchange brings to rules that compare several, by rule id."""
    return [
        (rule.id, Contribution(exchange.number, exchange.role, exchange.hop, view, judge.last, m))
        for rule, m in judge.gathered()
    ]


def check_client(setting: Setting, exchange: Exchange, seen: Iterable[Mapping[str, Any]]) -> Judged:
    """Judges what a client under test said it saw: its semantic events, in the order reported."""
    client = ClientCheck(setting, exchange)
    return client.finish(seen)


class ClientCheck:
    """The client's view of one exchange: every reported event is a frame of its own."""

    def __init__(self, setting: Setting, exchange: Exchange) -> None:
        self.setting = setting
        self.exchange = exchange
        self.memory = Memory()
        evidence = Evidence(exchange.request, exchange.response, "bytes", view="client")
        self.judge = Judge(setting.bound.rules, evidence)
        self.findings: list[Finding] = []

    def finish(self, seen: Iterable[Mapping[str, Any]]) -> Judged:
        """Reads everything the client reported and judges it; a report always ends cleanly."""
        label = f"{self.exchange.scenario}/{self.exchange.role}/{self.exchange.number}/client"
        for number, fields in enumerate(seen, 1):
            kind = str(fields.get("type", "unknown"))
            data = {"choice": 0, **{k: v for k, v in fields.items() if k not in ("type", "ms")}}
            self.memory.keep(number, Frame("event", kind, str(data), "", 0), [])
            self.judge.read(Event(kind, data, number, "semantic"))
            self.judge.settle()
            self._dress(label)
        self.judge.last += 1
        self.memory.end(self.judge.last, 0, "end of the client's report")
        outcomes = self.judge.close("eof")
        self._dress(label)
        return self._judged(outcomes)

    def _dress(self, label: str) -> None:
        for rule, violation in self.judge.fresh:
            self.findings.append(dress(rule, rule.level, violation, self.memory, label))
        self.judge.fresh.clear()

    def _judged(self, outcomes: Iterable[Outcome]) -> Judged:
        relevant = [o for o in outcomes if o.verdict is not Verdict.NOT_APPLICABLE]
        result = StreamResult(
            file=self.setting.file,
            exchange=self.exchange.number,
            dialect=self.setting.dialect.name,
            profile=self.setting.profile.name,
            named=self.setting.named,
            verdicts={o.rule.id: o.verdict for o in relevant},
            findings=tuple(self.findings),
            scenario=self.exchange.scenario,
            role=self.exchange.role,
            view="client",
            reasons={o.rule.id: o.reason for o in relevant if o.reason},
        )
        return Judged(result, contributions(self.exchange, "client", self.judge))
