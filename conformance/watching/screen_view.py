"""Traffic on a terminal: exchanges, their lanes as they grow, and findings, drawn anew each time.

What does not fit is left out: first older exchanges, then lanes and findings of the ones that are
over. The exchange that is chosen, by default the newest, is always in sight.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from conformance.judging.result import Finding
from conformance.report.printable import columns, fitting, visible
from conformance.report.wording import count
from conformance.watching.exchange import WatchedExchange
from conformance.watching.feed import KeyPressed
from conformance.watching.lanes import LANES, Lane
from conformance.watching.traffic import Traffic
from conformance.watching.wording import (
    finding_line,
    finding_name,
    judged_words,
    lane_text,
    outcome_line,
    request_line,
    state_words,
    trouble_lines,
)

_KEYS: Final = "up/down choose   Enter timeline   Esc newest   q quit"
_STYLES: Final[dict[Lane, str]] = {
    "thinking": "magenta",
    "summary": "blue",
    "text": "green",
    "tools": "yellow",
}
_MOST_FINDINGS: Final = 6  # of one exchange, if it is chosen or under way
_BAR: Final = 24
_NARROW: Final = 60  # columns below which no bar is drawn
_LEAST_HEIGHT: Final = 4  # lines below which there is no room for keys and notes

OpenTimeline = Callable[[WatchedExchange, Sequence[WatchedExchange]], str]
"""Opens the page of an exchange, after those of its conversation before it."""


class ScreenView(AbstractContextManager["ScreenView"]):
    """Draws in the thread that calls; a context manager, which gives the terminal back."""

    def __init__(self, url: str, upstream: str, open_timeline: OpenTimeline) -> None:
        self._title = f"{url} -> {upstream}"
        self._open_timeline = open_timeline
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
        self._live = Live(
            console=self._console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._chosen: int | None = None  # None: the newest
        self._note = ""

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def began(self, exchange: WatchedExchange) -> None:
        """It is seen when it is drawn next, as all that follows."""

    def found(self, exchange: WatchedExchange, findings: Sequence[Finding]) -> None:
        """As `began`."""

    def ended(self, exchange: WatchedExchange) -> None:
        """As `began`."""

    def note(self, text: str) -> None:
        self._note = text

    def press(self, key: KeyPressed, traffic: Traffic) -> None:
        numbers = list(traffic.exchanges)
        if not numbers:
            return
        at = numbers.index(self._chosen) if self._chosen in numbers else len(numbers) - 1
        match key.name:
            case "up" | "k":
                self._chosen = numbers[max(at - 1, 0)]
            case "down" | "j":
                self._chosen = numbers[at + 1] if at + 1 < len(numbers) else None
            case "escape":
                self._chosen = None
            case "enter":
                chosen = traffic.exchanges[numbers[at]]
                self._note = self._open_timeline(chosen, traffic.turns_before(chosen))

    def show(self, traffic: Traffic) -> None:
        width, height = self._console.size
        lines = self.lines(traffic, max(width - 1, 1), height)
        shown = [Text(self._encodable(line.plain), no_wrap=True) for line in lines]
        for line, drawn in zip(lines, shown, strict=True):
            drawn.spans = line.spans
        self._live.update(Group(*shown), refresh=True)

    def lines(self, traffic: Traffic, width: int, height: int) -> list[Text]:
        """What is drawn, at most `height` lines of `width` columns."""
        if height < _LEAST_HEIGHT:
            rows, foot = height - 1, []
        else:
            rows, foot = (
                height - 2,
                [Text(fitting(visible(self._note, 500) or _KEYS, width), "dim")],
            )
        body = self._body_lines(traffic, width, rows)
        padding = [Text("")] * (rows - len(body)) if foot else []
        return [self._head_line(traffic, width), *body, *padding, *foot][:height]

    def _head_line(self, traffic: Traffic, width: int) -> Text:
        facts = f"{count(traffic.total, 'exchange')}, {traffic.running} under way"
        facts += f", {traffic.faulty} with findings" if traffic.faulty else ""
        return Text(fitting(f"{facts}   {visible(self._title, 300)}", width), "bold")

    def _body_lines(self, traffic: Traffic, width: int, rows: int) -> list[Text]:
        """The exchanges around the chosen one: those after it, then those before it."""
        exchanges = list(traffic.exchanges.values())
        if not exchanges:
            return [Text(fitting("waiting for requests", width), "dim")][:rows]
        numbers = list(traffic.exchanges)
        at = numbers.index(self._chosen) if self._chosen in numbers else len(numbers) - 1
        body = self._exchange_block(exchanges[at], width, is_chosen=True)[:rows]
        for each in exchanges[at + 1 :]:
            block = self._exchange_block(each, width)
            if len(body) + len(block) > rows:
                break
            body += block
        for each in reversed(exchanges[:at]):
            block = self._exchange_block(each, width)
            if len(body) + len(block) > rows:
                break
            body = [*block, *body]
        return body

    def _exchange_block(
        self, exchange: WatchedExchange, width: int, *, is_chosen: bool = False
    ) -> list[Text]:
        mark = ">" if is_chosen else " "
        style = "bold red" if exchange.findings else "bold" if is_chosen else ""
        words = [state_words(exchange), request_line(exchange), outcome_line(exchange)]
        words += [judged_words(exchange)] if exchange.is_over else []
        title = f"{mark}#{exchange.number}  {'  '.join(filter(None, words))}"
        lines = [Text(fitting(title, width), style)]
        if not is_chosen and exchange.is_over:
            return lines
        lines += self._lane_lines(exchange, width)
        lines += [Text(fitting(f"   {line}", width), "yellow") for line in trouble_lines(exchange)]
        return [*lines, *_finding_lines(exchange.findings, width)]

    def _lane_lines(self, exchange: WatchedExchange, width: int) -> Iterator[Text]:
        for lane in LANES:
            tail = exchange.lanes.lanes[lane]
            if not tail.busy:
                continue
            line = Text(f"   {lane:<9}", _STYLES[lane])
            if width >= _NARROW:
                body_ms = (exchange.last - (exchange.head_at or exchange.last)) * 1000
                cells = exchange.lanes.busy_cells(lane, _BAR, body_ms)
                line.append("".join("=" if cell else "." for cell in cells), _STYLES[lane])
            line.append(f"{tail.size:>7,} ")
            line.append(_fitting_end(lane_text(exchange, lane), width - columns(line.plain)))
            line.truncate(width)
            yield line

    def _encodable(self, text: str) -> str:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        return text.encode(encoding, "replace").decode(encoding)


def _finding_lines(findings: Sequence[Finding], width: int) -> Iterator[Text]:
    for each in findings[:_MOST_FINDINGS]:
        line = Text(fitting(f"   {finding_name(each)} {finding_line(each)}", width), "red")
        yield line
    if findings[_MOST_FINDINGS:]:
        more = count(len(findings) - _MOST_FINDINGS, "more finding")
        yield Text(fitting(f"   and {more}", width), "red")


def _fitting_end(text: str, width: int) -> str:
    """The end of a printable text, as much as fits."""
    return fitting(text[::-1], width).rstrip("…")[::-1] if width > 0 else ""
