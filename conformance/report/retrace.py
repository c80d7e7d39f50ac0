"""The frames of a judged exchange, rebuilt from its bytes, as far as a reader can look at them.

Rule 1: what a judged stream consisted of is not kept, but rebuilt: the same dialect, profile and
numbers as when it was judged.
Rule 2: a short stream is kept whole. Of a long one stay the frames around findings, the first
frames of every run of one kind, and the last one, up to `most`; all others count in the picture.
Rule 3: a *block* is what lies between a start and its end in one lane. Lanes hold at most
`_MOST_BLOCKS` of them; more are joined with their neighbours, so memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.core.events import Event, Exchange
from conformance.core.excerpts import clipped
from conformance.core.trace import TracedFrame
from conformance.dialects import get
from conformance.judging.result import StreamResult
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.examples import head_lines

Lane = Literal["thinking", "summary", "text", "tools", "stream"]
LANES: Final[tuple[Lane, ...]] = ("thinking", "summary", "text", "tools", "stream")

_LANE_OF: Final[Mapping[str, Lane]] = {"text": "text", "refusal": "text", "tool": "tools"}
_RUN: Final = 3  # first frames of a run that are kept of a long stream
_NEAR: Final = 3  # frames around a finding
_MOST_BLOCKS: Final = 512
_RAW: Final = 4096  # characters of a frame's data that are looked at


class ShownFrame(Struct, frozen=True):
    """One frame. `ms` since the response head, None without a clock; `text` is its data, clipped.

    Number 0 is the request and the response head.
    """

    number: int
    ms: float | None
    type: str
    text: str
    size: int
    lanes: tuple[Lane, ...]


class LaneBlock(Struct):
    """A bar in a lane: frames `first` to `last`, from `start` to `stop` in milliseconds."""

    first: int
    last: int
    start: float
    stop: float
    frames: int = 1


class ShownExchange(Struct):
    """An exchange as a picture needs it; `total` counts all frames, the end included."""

    moments: list[ShownFrame] = field(default_factory=list)
    blocks: dict[Lane, list[LaneBlock]] = field(default_factory=dict)
    total: int = 0
    is_clocked: bool = True
    last_ms: float = 0.0
    note: str = ""


def trace_exchange(
    stream: StreamResult, exchange: Exchange, most: int, near: Collection[int] = ()
) -> ShownExchange:
    """Rebuild the frames of an exchange, of which at most about `most` are kept.

    Those around findings, and around the events `near`, are kept first of all.
    """
    profile = profile_at_hand(stream.profile, stream.dialect)
    text = "\n".join(head_lines(exchange)) or "not recorded"
    kind = "request and response head"
    head = ShownFrame(0, 0.0, kind, clipped(text, _RAW), len(text), ("stream",))
    keeper = _FrameKeeper({*near, *(f.event for f in stream.findings)}, most, head)
    if profile.name != stream.profile:
        keeper.traced.note = (
            f"profile {stream.profile} was not found: the lanes follow profile strict"
        )
    for each in get(stream.dialect).trace(exchange, reading(profile)):
        if each.number:
            keeper.take(each)
    return keeper.result()


class LaneChoice:
    """Which lane a semantic event is in; a block of thinking stays in the one it began in."""

    def __init__(self) -> None:
        self._channels: dict[tuple[object, object], Lane] = {}

    def of(self, event: Event) -> Lane:
        kind = event.type.partition(".")[0]
        if kind == "thinking":
            key = (event.data.get("choice"), event.data.get("block"))
            channel = event.data.get("channel")
            if channel is not None:
                self._channels[key] = "summary" if channel == "summary" else "thinking"
            return self._channels.get(key, "thinking")
        return _LANE_OF.get(kind, "stream")


def trace_report(reported: Iterable[Mapping[str, Any]]) -> ShownExchange:
    """What a client says it saw, as lanes over the numbers of its events."""
    head = ShownFrame(0, None, "report", "", 0, ("stream",))
    keeper = _FrameKeeper((), 0, head)
    for number, each in enumerate(reported, 1):
        event = Event(str(each.get("type")), each, number, "semantic")
        keeper.take(TracedFrame(number, None, None, [event]))
    return keeper.result()


class _FrameKeeper:
    """Decides frame by frame what stays, and draws the blocks."""

    def __init__(self, findings: Collection[int], most: int, head: ShownFrame) -> None:
        self.traced = ShownExchange(blocks={lane: [] for lane in LANES})
        self._near = {n for each in findings for n in range(each - _NEAR, each + 2)}
        self._most = most
        self._early = [head]  # all of a short stream
        self._kept = [head]  # of a long one
        self._last = head
        self._run: tuple[tuple[str, ...], int] = ((), 0)
        self._lanes = LaneChoice()
        self._open: dict[tuple[object, ...], LaneBlock] = {}

    def take(self, each: TracedFrame) -> None:
        number, ms, _, events = each
        traced = self.traced
        traced.total = max(traced.total, number)
        traced.is_clocked = traced.is_clocked and ms is not None
        traced.last_ms = ms if ms is not None else traced.last_ms
        lanes = [self._draw_block(event, number, ms or 0.0) for event in events]
        named = tuple(dict.fromkeys(lane for lane in lanes if lane)) or ("stream",)
        self._keep_moment(_frame_moment(each, named))

    def result(self) -> ShownExchange:
        if self.traced.total <= self._most:
            self.traced.moments = self._early
        else:
            last = [self._last] if self._last != self._kept[-1] else []
            self.traced.moments = [*self._kept, *last]
        return self.traced

    def _keep_moment(self, moment: ShownFrame) -> None:
        if len(self._early) <= self._most:
            self._early.append(moment)
        kind, length = self._run
        own = (moment.type, *moment.lanes)
        self._run = (own, length + 1 if own == kind else 1)
        is_new = self._run[1] <= _RUN and len(self._kept) < self._most
        # Many findings: their own bound is twice that of the others.
        is_near = moment.number in self._near and len(self._kept) < 2 * self._most
        if is_new or is_near:
            self._kept.append(moment)
        self._last = moment

    def _draw_block(self, event: Event, number: int, ms: float) -> Lane | None:
        if event.layer != "semantic":
            return None
        lane = self._lanes.of(event)
        choice, block = event.data.get("choice"), event.data.get("block", event.data.get("index"))
        key = (lane, choice, block)
        bar = self._open.get(key)
        if bar is None or event.type.endswith(".start") or lane == "stream":
            bar = self._open[key] = LaneBlock(number, number, ms, ms, 0)
            self._add_block(lane, bar)
        bar.last, bar.stop = number, ms
        bar.frames += 1
        if event.type.endswith(".end"):
            self._open.pop(key, None)
        return lane

    def _add_block(self, lane: Lane, bar: LaneBlock) -> None:
        bars = self.traced.blocks[lane]
        if len(bars) >= _MOST_BLOCKS:
            self.traced.blocks[lane] = bars = _joined_blocks(bars)
            self._open.clear()  # joined texts grow no further
        bars.append(bar)


def _joined_blocks(bars: list[LaneBlock]) -> list[LaneBlock]:
    """Half as many: each with its neighbour, gaps included."""
    firsts, seconds = bars[::2], bars[1::2]
    pairs = zip(firsts, seconds, strict=True)
    return [LaneBlock(a.first, b.last, a.start, b.stop, a.frames + b.frames) for a, b in pairs]


def _frame_moment(each: TracedFrame, lanes: tuple[Lane, ...]) -> ShownFrame:
    number, ms, frame, events = each
    wire = [event.type for event in events if event.layer == "wire"]
    if frame is None:
        kind = events[0].type if events else "end of stream"
        text = "; ".join(f"{event.type} {_event_text(event)}".rstrip() for event in events)
        return ShownFrame(number, ms, kind, clipped(text, _RAW), len(text), lanes)
    named = {"comment": "comment", "ignored": frame.event, "body": "body"}.get(frame.kind)
    kind = wire[0] if wire else named or frame.event
    return ShownFrame(number, ms, kind, clipped(frame.data, _RAW), len(frame.data), lanes)


def _event_text(event: Event) -> str:
    return ", ".join(f"{name}: {value!r:.400}" for name, value in event.data.items())
