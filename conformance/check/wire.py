"""The wire view: bytes to events, events to verdicts, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from conformance.check.scenario import Scenario
from conformance.check.trace import Framer, Trace, clocked, is_body
from conformance.check.view import Judged, Setting, View
from conformance.dialects.base import Reader
from conformance.events import Chunk, Ending, Exchange, Frame
from conformance.profiles import reading
from conformance.rules.applies import Evidence


def check_wire(
    setting: Setting,
    exchange: Exchange,
    chunks: Iterable[Chunk],
    end: Ending,
    *,
    scenario: Scenario | None = None,
    is_last: bool = True,
) -> Judged:
    """Judges the bytes of one exchange as they arrive, in bounded memory.

    `scenario` goes on over several exchanges; the last one's result holds its verdicts.
    """
    view = WireView(setting, exchange, scenario)
    for data, ms in clocked(chunks):
        view.feed(data, ms)
    return view.finish(end, is_last=is_last)


class WireView(View):
    """One exchange as the server sent it."""

    name: ClassVar[Literal["wire", "client"]] = "wire"

    def __init__(
        self, setting: Setting, exchange: Exchange, scenario: Scenario | None = None
    ) -> None:
        reader = setting.dialect.reader(reading(setting.profile))
        super().__init__(setting, exchange, _evidence(setting, exchange, reader), scenario)
        self.trace = Trace(reader)
        self.bytes = 0
        self._framer: Framer | None = None
        self.take(self.trace.head(exchange.request, exchange.response))

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
        self.take(events)

    def finish(self, how: Ending, *, is_last: bool = True) -> Judged:
        """Ends the stream and gives verdicts and findings."""
        for frame in self._framer.close() if self._framer else ():
            self._frame(frame)
        events = self.trace.end(how)
        self.memory.tell(self.trace.number, "end of stream", how, self.bytes)
        self.take(events)
        outcomes = self.judge.close(how)
        if self.scenario is not None and is_last:
            outcomes = (*outcomes, *self.conclude(self.scenario, how))
        return self.judged(outcomes)


def _evidence(setting: Setting, exchange: Exchange, reader: Reader) -> Evidence:
    return Evidence(
        exchange.request,
        exchange.response,
        setting.fidelity,
        clock=any(chunk.ms is not None for chunk in exchange.chunks),
        echo=reader.echo,
    )
