"""Reads an exchange with similar deltas joined into one, for callers that need no single events.

Rule 1: frames read one by one give what `Dialect.trace` gives. Of frames that differ only in their
columns (`template`), the first is read by itself and the following ones as one frame with all of
their text: `Dialect.columns` promises that the reader ends in the same state.
Rule 2: a joined frame has the number of its last frame, and wire events of the first one's shape.
Rule 3: searching for such frames costs as much as reading a few, so it starts only if enough bytes
are left, and waits longer each time it finds little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from conformance.core.errors import HarnessError
from conformance.core.events import Event, Exchange, Frame
from conformance.core.framing import Framer
from conformance.core.json_values import NOT_JSON
from conformance.core.sse import Parser
from conformance.core.trace import FrameTrace
from conformance.dialects.base import DeltaColumns, Dialect, Reading
from conformance.judging.fast.frame_rows import FrameRows
from conformance.judging.fast.plain_text import is_unchanged_text, plain_part, set_text
from conformance.judging.fast.runs import FIRST_WINDOW, WINDOW, is_delta
from conformance.judging.fast.template import Taken, Template, frames_end, template
from conformance.judging.findings import MOST_REMEMBERED
from conformance.rules.paths import getter

WORTHWHILE: Final = 1 << 12  # bytes that must be left before similar frames are searched
_MOST_ALONE: Final = 64  # frames in a row that are no deltas: what follows is read in strides
_STRIDE: Final = 1 << 12
_SHORT: Final = 8  # frames: fewer were not worth the look
_MOST_PATIENCE: Final = 64


class JoinedFrames(NamedTuple):
    """One frame, or several as one: the number of the last, its latest frames, and its events.

    The heads and the end have no frame.
    """

    number: int
    frames: Sequence[Frame]
    events: Sequence[Event]
    is_joined: bool = False


def read_joined(
    exchange: Exchange, dialect: Dialect, reading: Reading, *, joins: bool = True
) -> Iterator[JoinedFrames]:
    """Everything that a recorded exchange gives rise to, from the request to the end.

    Without `joins` every frame is given by itself.
    """
    trace = FrameTrace(dialect.reader(reading))
    framer = Framer(exchange.response, expected=dialect.expected_framing(exchange.request))
    yield JoinedFrames(0, (), trace.head(dialect.stated(exchange.request), exchange.response))
    pieces = framer.settle(exchange.body, None) or framer.settle_at_end()
    for data, _ in pieces:
        if framer.sse is None or not joins:
            yield from _read_singly(framer.feed(data), trace)
        else:
            yield from _JoinedStream(data, framer.sse, trace, dialect, reading).read()
    yield from _read_singly(framer.close(), trace)
    ended = trace.end(exchange.end)
    yield JoinedFrames(trace.number, (), ended)


def _read_singly(frames: Sequence[Frame], trace: FrameTrace) -> Iterator[JoinedFrames]:
    for frame in frames:
        events = trace.frame(frame)
        yield JoinedFrames(trace.number, (frame,), events)


class _JoinedStream:
    """An event stream that is all there."""

    def __init__(
        self, data: bytes, parser: Parser, trace: FrameTrace, dialect: Dialect, reading: Reading
    ) -> None:
        self._data = data
        self._parser = parser
        self._trace = trace
        self._dialect = dialect
        self._reading = reading
        self._patience = 0  # frames to wait before the next look
        self._failures = 0

    def read(self) -> Iterator[JoinedFrames]:
        at = alone = 0
        while at < len(self._data):
            stop = frames_end(self._data, at) if alone < _MOST_ALONE else at + _STRIDE
            frames = self._parser.feed(self._data[at:stop])
            at = min(stop, len(self._data))
            for single in _read_singly(frames, self._trace):
                yield single
                alone = 0 if is_delta(single.events) else alone + 1
            is_worth_it = len(self._data) - at >= WORTHWHILE and self._parser.is_between
            if len(frames) == 1 and is_worth_it:
                for joined, size in self._alike(frames[0], single.events, at):
                    at += size
                    yield joined

    def _alike(
        self, frame: Frame, events: Sequence[Event], at: int
    ) -> Iterator[tuple[JoinedFrames, int]]:
        """What follows a delta and differs from it in its columns alone, with its size."""
        if not is_delta(events):
            return
        if self._patience > 0:
            self._patience -= 1
            return
        payload = events[0].data.get("json", NOT_JSON)
        columns = self._dialect.columns(payload, self._reading)
        if columns is None:
            return
        if not is_unchanged_text(getter(columns.text)(payload), columns, events[-1]):
            return
        name = frame.event if frame.named else None
        found = template(name, frame.data, payload, columns.paths)
        count, window = 0, FIRST_WINDOW
        while found and (taken := found.take(self._data[at : at + window], 0)):
            if (taken := plain_part(taken, found, columns)) is None:
                break
            yield self._join(found, taken, columns, frame), taken.size
            self._parser.skip(taken.size)
            at += taken.size
            count += len(taken.rows)
            window = min(4 * window, WINDOW)
        self._failures = 0 if count >= _SHORT else self._failures + 1
        self._patience = min(1 << self._failures >> 3, _MOST_PATIENCE)

    def _join(
        self, alike: Template, taken: Taken, columns: DeltaColumns, first: Frame
    ) -> JoinedFrames:
        text = "".join(taken.values[alike.columns.index(columns.text)])
        payload: Any = msgspec.json.decode(alike.data(taken.rows[-1]))
        set_text(payload, columns, text)
        self._trace.number += len(taken.rows)
        events = self._trace.reader.read(first, payload, self._trace.number)
        spoken = [event for event in events if event.layer == "semantic"]
        if len(spoken) != 1 or text not in spoken[0].data.values():
            raise HarnessError("a dialect reads joined deltas other than single ones")
        rows = taken.rows[-MOST_REMEMBERED:]
        at = self._parser.position + taken.size - sum(alike.around + len(row) for row in rows)
        latest = FrameRows(alike, rows, first, at)
        return JoinedFrames(self._trace.number, latest, events, is_joined=True)
