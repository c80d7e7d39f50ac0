"""Traffic as lines, for where there is no terminal: a line for each thing that happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.judging.result import Finding
from conformance.watching.exchange import WatchedExchange
from conformance.watching.feed import KeyPressed
from conformance.watching.traffic import Traffic
from conformance.watching.wording import (
    finding_line,
    finding_name,
    judged_words,
    outcome_line,
    request_line,
    state_words,
    trouble_lines,
)


class LineView:
    """Writes lines with `put`, notes with `warn`."""

    def __init__(self, put: Callable[[str], None], warn: Callable[[str], None]) -> None:
        self._put = put
        self._warn = warn

    def began(self, exchange: WatchedExchange) -> None:
        self._put(f"#{exchange.number} {request_line(exchange)}")

    def found(self, exchange: WatchedExchange, findings: Sequence[Finding]) -> None:
        for each in findings:
            self._put(f"#{exchange.number} {finding_name(each)} {finding_line(each)}")

    def ended(self, exchange: WatchedExchange) -> None:
        for line in trouble_lines(exchange):
            self._put(f"#{exchange.number} {line}")
        facts = (state_words(exchange), outcome_line(exchange), judged_words(exchange))
        self._put(f"#{exchange.number} {'  '.join(filter(None, facts))}")

    def note(self, text: str) -> None:
        self._warn(text)

    def show(self, traffic: Traffic) -> None:
        """Lines say it all."""

    def press(self, key: KeyPressed, traffic: Traffic) -> None:
        """Nobody presses a key."""
