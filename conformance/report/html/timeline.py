"""The picture of one exchange: lanes over time, a mark per frame, and the frames themselves.

Marks are links to the frames below, so the picture works without script. Positions are in
milliseconds where the recording has a clock, else in event numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from conformance.judging.result import Finding
from conformance.report.escaping import escape_html
from conformance.report.retrace import LANES, LaneBlock, ShownExchange, ShownFrame
from conformance.report.wording import count

_LEFT: Final = 84  # room for the names of the lanes
_WIDTH: Final = 1000
_LANE: Final = 26
_TOP: Final = 26  # room for the findings
_FOOT: Final = 22  # room for the axis
_HEIGHT: Final = _TOP + _LANE * len(LANES) + _FOOT
_TICKS: Final = 5
_TITLE: Final = 18  # room for the title of a lane
_TEXT: Final = 700  # characters shown of a frame
_TEXT_AT_FINDING: Final = 3000
_HELP: Final = "Arrow keys move between marks, Enter shows the frame, Escape goes back."


class PageBudget(Struct):
    """The remaining room of a page for pictures and the characters of their frames.

    A page of about 8 MB is one that browsers open at once.
    """

    pictures: int = 60
    characters: int = 4_000_000

    @property
    def is_spent(self) -> bool:
        return self.pictures <= 0 or self.characters <= 0


class PlacedFinding(Struct, frozen=True):
    """A finding, and the id of the place on the page that shows it."""

    anchor: str
    finding: Finding


class ExchangePicture(Struct, frozen=True):
    """The content of a picture: an exchange's frames, and the findings by event."""

    number: int  # of the stream's section
    traced: ShownExchange
    findings: Mapping[int, list[PlacedFinding]]
    clean: Callable[[str], str]
    begins: float = 0.0  # milliseconds at which the axis begins, at the latest at 0
    least_span: float = 0.0  # milliseconds at which it ends, at the earliest

    @property
    def span(self) -> float:
        if not self.traced.is_clocked:
            return max(float(self.traced.total), 1.0)
        return max(self.traced.last_ms, self.least_span, 1.0)

    @property
    def origin(self) -> float:
        """Where the axis begins: before 0 where another answer began before this one."""
        return min(self.begins, 0.0) if self.traced.is_clocked else 0.0

    def x(self, place: float) -> float:
        """Where a time or an event number lies, in units of the picture."""
        share = (place - self.origin) / (self.span - self.origin)
        return round(_LEFT + (_WIDTH - _LEFT - 12) * min(max(share, 0.0), 1.0), 1)

    def moment_x(self, ms: float | None, number: int) -> float:
        """Where a moment lies, by its time or, without a clock, by its event number."""
        return self.x((ms or 0.0) if self.traced.is_clocked else float(number))

    @property
    def anchors(self) -> dict[int, str]:
        """The ids of the frames that are kept, by event number."""
        return {moment.number: _frame_id(self, moment.number) for moment in self.traced.moments}


def picture_lines(
    picture: ExchangePicture, budget: PageBudget, beneath: Iterable[str] = ()
) -> Iterator[str]:
    """The picture, the lanes beneath it, and its frames as lines of HTML."""
    traced = picture.traced
    yield f'<figure class="timeline" data-stream="{picture.number}">'
    yield '<div class="picture">'
    yield from _picture_svg(picture)
    yield from beneath
    yield "</div>"
    unit = "milliseconds since the response head" if traced.is_clocked else "event numbers"
    kept = sum(1 for moment in traced.moments if moment.number)
    caption = f"{count(traced.total, 'event')} in {unit}"
    if kept < traced.total:
        caption += f"; the frames of {kept} are kept, those around findings and where kinds change"
    note = f"; {escape_html(traced.note)}" if traced.note else ""
    yield f"<figcaption>{caption}{note}. {_HELP}</figcaption>"
    yield f'<ol class="frames" tabindex="0" aria-label="Frames of stream {picture.number}">'
    budget.pictures -= 1
    for moment in traced.moments:
        line = _frame_item(picture, moment)
        budget.characters -= len(line)
        yield line
    yield "</ol></figure>"


def _picture_svg(picture: ExchangePicture) -> Iterator[str]:
    label = f"Timeline of stream {picture.number}, {picture.traced.total} events"
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" aria-label="{label}">'
    for row, lane in enumerate(LANES):
        top = _TOP + row * _LANE
        blocks = picture.traced.blocks.get(lane, ())
        yield from _lane_svg(lane, top, (_block_ends(picture, block) for block in blocks))
    yield from _axis_svg(picture)
    for moment in picture.traced.moments:
        yield _mark_svg(picture, moment)
    for event, found in sorted(picture.findings.items()):
        yield _finding_svg(picture, event, found)
    yield "</svg>"


def _block_ends(picture: ExchangePicture, block: LaneBlock) -> tuple[float, float]:
    begin = picture.moment_x(block.start, block.first)
    return begin, picture.moment_x(block.stop, block.last)


def _lane_svg(lane: str, top: int, bars: Iterable[tuple[float, float]]) -> Iterator[str]:
    """A lane with its name, and its bars from where they begin to where they end."""
    size = f'width="{_WIDTH - _LEFT}" height="{_LANE - 4}"'
    yield f'<rect class="lane" x="{_LEFT}" y="{top + 2}" {size}/>'
    yield f'<text class="name" x="{_LEFT - 8}" y="{top + 17}">{lane}</text>'
    for begin, end in bars:
        width = round(max(end - begin, 2.0), 1)
        size = f'width="{width}" height="16" rx="3"'
        yield f'<rect class="bar {lane}" x="{begin}" y="{top + 5}" {size}/>'


class LanesBeneath(Struct, frozen=True):
    """Lanes of another answer on the scale of a picture.

    Its places are multiplied by `scale` and begin at `start` of the picture; `marks` are events
    that findings are about.
    """

    title: str
    traced: ShownExchange
    start: float
    scale: float
    marks: Sequence[int] = ()

    def svg_lines(self, picture: ExchangePicture) -> Iterator[str]:
        lanes = [lane for lane in LANES if self.traced.blocks.get(lane)]
        height = _TITLE + _LANE * len(lanes)
        label = escape_html(f"{self.title}, {self.traced.total} events", 200)
        yield f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">'
        yield f'<text class="beneath" x="4" y="{_TITLE - 5}">{label}</text>'
        for row, lane in enumerate(lanes):
            top = _TITLE + row * _LANE
            blocks = self.traced.blocks[lane]
            yield from _lane_svg(lane, top, (self._block_ends(picture, each) for each in blocks))
        for number in sorted(set(self.marks)):
            at = picture.x(self.start + self._event_place(number) * self.scale)
            title = f"<title>event {number}</title>"
            yield f'<rect class="about" x="{at - 1.5}" y="{_TITLE}" width="3" height="{height}">'
            yield f"{title}</rect>"
        yield "</svg>"

    def _block_ends(self, picture: ExchangePicture, block: LaneBlock) -> tuple[float, float]:
        is_clocked = self.traced.is_clocked
        ends = (block.start, block.stop) if is_clocked else (block.first, block.last)
        begin, end = (picture.x(self.start + at * self.scale) for at in ends)
        return begin, end

    def _event_place(self, number: int) -> float:
        """Where an event lies: its time, that of the frame before it, or its number."""
        if not self.traced.is_clocked:
            return float(number)
        before = [each.ms or 0.0 for each in self.traced.moments if each.number <= number]
        return before[-1] if before else 0.0


def _axis_svg(picture: ExchangePicture) -> Iterator[str]:
    y = _TOP + _LANE * len(LANES)
    yield f'<line class="axis" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - 12}" y2="{y}"/>'
    steps = _TICKS if picture.traced.is_clocked else min(_TICKS, int(picture.span))
    for step in range(steps + 1):
        at = float(round(picture.origin + (picture.span - picture.origin) * step / steps))
        text = f"{at:.0f} ms" if picture.traced.is_clocked else f"{at:.0f}"
        side = " last" if step == steps else ""
        yield f'<text class="tick{side}" x="{picture.x(at)}" y="{y + 16}">{text}</text>'


def _mark_svg(picture: ExchangePicture, moment: ShownFrame) -> str:
    at = picture.moment_x(moment.ms, moment.number)
    rows = [LANES.index(lane) for lane in moment.lanes]
    bars = "".join(
        f'<rect x="{at - 1.5}" y="{_TOP + row * _LANE + 4}" width="3" height="18"/>' for row in rows
    )
    bad = " bad" if moment.number in picture.findings else ""
    name = f"event {moment.number}: {escape_html(moment.type, 80)}"
    href = _frame_id(picture, moment.number)
    return (
        f'<a class="mark{bad}" href="#{href}" id="m{href}" aria-label="{name}">'
        f"<title>{name}</title>{bars}</a>"
    )


def _finding_svg(picture: ExchangePicture, event: int, found: list[PlacedFinding]) -> str:
    # Where thousands stand, not every frame is kept: the mark leads to the one before.
    before = [moment for moment in picture.traced.moments if moment.number <= event]
    if not before:
        return ""
    moment = before[-1]
    at = picture.moment_x(moment.ms, moment.number)
    levels = " ".join(sorted({one.finding.level.lower() for one in found}))
    name = f"event {event}: {escape_html('; '.join(one.finding.rule for one in found), 200)}"
    foot = _TOP + _LANE * len(LANES)
    href = _frame_id(picture, moment.number)
    return (
        f'<a class="finding {levels}" href="#{href}" aria-label="{name}">'
        f"<title>{name}</title>"
        f'<line x1="{at}" y1="18" x2="{at}" y2="{foot}"/>'
        f'<path d="M{at} 20 l-7 -14 h14 z"/></a>'
    )


def _frame_item(picture: ExchangePicture, moment: ShownFrame) -> str:
    found = picture.findings.get(moment.number, [])
    limit = _TEXT_AT_FINDING if found else _TEXT
    when = f"{moment.ms:.1f} ms" if moment.ms is not None and moment.number else ""
    # Cleaned before it is cut: half a secret would not be known for one.
    shown = picture.clean(moment.text)[:limit].split("\n")[:200]
    lines = "".join(f"{escape_html(line, limit)}\n" for line in shown)
    rest = moment.size - min(moment.size, limit)
    more = f'<span class="left-out">{rest} more characters</span>' if rest else ""
    rules = "".join(
        f'<a class="at" href="#{one.anchor}">{escape_html(one.finding.rule)}</a> ' for one in found
    )
    bad = ' class="bad"' if found else ""
    return (
        f'<li id="{_frame_id(picture, moment.number)}" tabindex="-1"{bad}>'
        f"<b>{moment.number}</b> <code>{escape_html(moment.type, 120)}</code> "
        f'<span class="when">{when}</span> {rules}<pre>{lines}</pre>{more}</li>'
    )


def _frame_id(picture: ExchangePicture, event: int) -> str:
    return f"s{picture.number}f{event}"
