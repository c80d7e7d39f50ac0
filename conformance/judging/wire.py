"""The wire view: bytes to events, events to verdicts, frame by frame.

Frame by frame. `fast.running` takes runs of deltas in bulk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from msgspec.structs import replace

from conformance.core.events import Ending, Event, Exchange, Frame, Request
from conformance.core.framing import Framer
from conformance.core.trace import FrameTrace
from conformance.dialects.base import Reader
from conformance.judging.offered_tools import OfferedTools
from conformance.judging.scenario import ScenarioJudge
from conformance.judging.view import ExchangeView, JudgedView, JudgeSetting
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcomes


class JudgedAnswer:
    """The number of the answer that is judged: the reader may be in the next one already."""

    def __init__(self) -> None:
        self.number = 1


class WireView(ExchangeView):
    """One exchange as the server sent it."""

    name: ClassVar[Literal["wire", "client"]] = "wire"

    def __init__(
        self, setting: JudgeSetting, exchange: Exchange, scenario: ScenarioJudge | None = None
    ) -> None:
        reader = setting.dialect.reader(setting.bound.reading)
        expected = setting.dialect.expected_framing(exchange.request)
        request = setting.dialect.stated(exchange.request)
        self.framer = Framer(exchange.response, expected=expected)
        self._judged = JudgedAnswer()
        echo = partial(_echo, reader, self._judged)
        evidence = _wire_evidence(setting, exchange, request, self.framer, echo)
        super().__init__(setting, exchange, evidence, scenario)
        self.tools = OfferedTools.of(setting.dialect, request)
        if self.tools is not None:
            self.show_judge = self.tools.noting(self.judge.read)
        self.trace = FrameTrace(reader)
        self.bytes = 0
        self.take(self.trace.head(request, exchange.response))

    def feed(self, data: bytes, ms: float | None) -> None:
        """Takes the next chunk; `ms` since the response head, None without a clock."""
        self.bytes += len(data)
        for piece, came in self.framer.settle(data, ms):
            self.judge.ms = came
            self.read(piece)
        self.judge.ms = ms

    def read(self, data: bytes) -> None:
        """Takes bytes apart and hands every frame to the judge."""
        for frame in self.framer.feed(data):
            self.frame(frame)

    def frame(self, frame: Frame) -> list[Event]:
        """Hands over one frame; gives the events it gave rise to."""
        events = self.trace.frame(frame)
        self.memory.keep(self.trace.number, frame, events)
        self.take(events)
        return events

    def _begin_answer(self, events: Sequence[Event]) -> Sequence[Event]:
        rest = super()._begin_answer(events)
        self._judged.number = self.answers
        return rest

    def finish(self, how: Ending, *, is_last: bool = True) -> JudgedView:
        """Ends the stream and gives verdicts and findings."""
        for frame in self.framer.close():
            self.frame(frame)
        events = self.trace.end(how)
        self.memory.remember(self.trace.number, "end of stream", how, self.bytes)
        self.take(events)
        self.framing = self.framer.framing or ""
        if self.transcript is not None:
            self.transcript.last, self.transcript.memory = self.trace.number, self.memory
        outcomes = self.close(how)
        if self.scenario is not None and is_last:
            outcomes = Outcomes((*outcomes, *self.conclude(self.scenario, how)))
        view = self.judged(outcomes)
        if self.tools is None or not self.tools.calls:
            return view
        calls, fitting = self.tools.calls, self.tools.fitting
        return replace(view, judged=replace(view.judged, calls=calls, fitting_calls=fitting))


def _echo(reader: Reader, judged: JudgedAnswer) -> Mapping[str, Any] | None:
    return reader.echo(judged.number)


def _wire_evidence(
    setting: JudgeSetting,
    exchange: Exchange,
    request: Request | None,
    framer: Framer,
    echo: Callable[[], Mapping[str, Any] | None],
) -> Evidence:
    return Evidence(
        request,
        exchange.response,
        setting.fidelity,
        framing=lambda: framer.framing,
        own_framing=setting.dialect.stream_framing(request.path if request else ""),
        clock=any(chunk.ms is not None for chunk in exchange.chunks),
        echo=echo,
        echoes=setting.dialect.echoes,
        role=exchange.role,
        hop=exchange.hop,
        reported=exchange.seen is not None,
        declared=setting.declared,
        user_choices=exchange.user_choices,
        prompt_texts=partial(setting.dialect.prompt_texts, request),
    )
