"""Runs of deltas: frames equal except for a few columns, which rules read as columns.

In a long stream nearly all frames belong to runs. The first frame of a run is read the usual way.
If every act that it triggers is *still* from then on (`conformance.rules.repetition`), following
frames with the same template are only split; the rules get them later, as one stretch.

Rule 1: the outcome equals that of reading every frame by itself. A frame in which an act would
find a violation, or meet a cap, is read by itself; no state has changed by then.
Rule 2: a run holds at most MOST_FRAMES frames and about MOST_BYTES bytes before the rules get it.
Rule 3: the dialect's reader gets one frame with the joined text of the stretch. It must give that
text in one delta of the first frame's kind: anything else is our fault, and an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.core.events import Event, Frame
from conformance.dialects.base import DeltaColumns
from conformance.judging.fast.frame_rows import FrameRows
from conformance.judging.fast.plain_text import (
    TEXTS,
    is_unchanged_text,
    plain_count,
    plain_part,
    set_text,
)
from conformance.judging.fast.template import Taken, Template, template
from conformance.judging.fast.waiting_rows import WaitingRows
from conformance.rules.forms.base import Act, Letter, Slice
from conformance.rules.judge import Judge
from conformance.rules.paths import getter
from conformance.rules.repetition import Column, Repeated, Stretch

MOST_FRAMES: Final = 2048
MOST_BYTES: Final = 1 << 20
WINDOW: Final = 1 << 16  # how far ahead a run looks in one go, at most
FIRST_WINDOW: Final = 1 << 12  # and at first: most runs are short


class Part(Struct, frozen=True):
    """One event of every frame of a run: its columns by path, the acts on it, and its listeners."""

    event: Event
    columns: Mapping[str, str]  # path in the event -> path in the payload
    acts: Sequence[tuple[Slice, int, Act]]
    letters: Sequence[tuple[Slice, Letter]]


Misfit = tuple[int, Slice, Act]  # which of the stretches, and what does not fit where


class Run:
    """Frames taken so far, and what the rules get of them."""

    def __init__(
        self,
        template: Template,
        frame: Frame,
        columns: DeltaColumns,
        parts: Sequence[Part],
        at: int,
        *,
        waiting: WaitingRows | None = None,
    ) -> None:
        self.waiting = waiting or WaitingRows(template)
        self.template = template
        self.frame = frame  # the frame before the run
        self.columns = columns
        self.parts = parts
        self.offset = at  # byte at which the frames to come begin
        self.total = 0  # frames of the whole run
        self.size = 0
        self.times: list[tuple[int, float]] = []
        self._values: dict[str, list[Any]] = {path: [] for path in template.columns}
        self._columns: dict[str, Column] = {}  # those of them that the rules have read
        self._rows: list[bytes] = []
        self._window = FIRST_WINDOW

    def take(self, buffer: bytes, at: int) -> Taken | None:
        """The next frames of the run, if they are in `buffer` at `at`."""
        end = self.template.end
        stop = buffer.find(end, at + self._window) + len(end)
        size = min(stop - at, WINDOW) if stop >= len(end) else WINDOW
        taken = self.template.take(buffer[at : at + size], 0)
        if taken is None or (taken := plain_part(taken, self.template, self.columns)) is None:
            return None
        if taken.size >= self._window:
            self._window = min(4 * self._window, WINDOW)
        return taken

    def take_rows(self, rows: list[bytes], times: Sequence[float]) -> int | None:
        """Keeps frames as rows; their size, None if these bytes are not rows."""
        values = self.template.values(rows)
        if values is None or plain_count(values, self.template, self.columns) < len(rows):
            return None
        taken = Taken(self._length(rows), values, rows)
        self.add(taken, enumerate(times, 1))
        return taken.size

    def ends(self, taken: Taken, at: int) -> list[int]:
        """The positions after each of the frames taken at `at`."""
        around = self.template.around
        return list(accumulate((len(row) + around for row in taken.rows), initial=at))[1:]

    def add(self, taken: Taken, times: Iterable[tuple[int, float]]) -> None:
        """Keeps frames for the next stretch; `times` say how many of them had come when."""
        self.times += [(self.count + count, ms) for count, ms in times]
        for path, values in zip(self.template.columns, taken.values, strict=True):
            self._values[path].extend(values)
        self._columns.clear()
        self._rows.extend(taken.rows)
        self.total += len(taken.rows)
        self.size += taken.size

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def is_full(self) -> bool:
        return self.count >= MOST_FRAMES or self.size >= MOST_BYTES

    def stretches(self, number: int) -> list[tuple[Stretch, Part]]:
        """What every part amounts to; `number` is that of the last frame before."""
        first, last = number + 1, number + self.count
        times = [(number + upto, ms) for upto, ms in self.times]
        return [
            (Stretch(part.event, first, last, _Columns(self, part.columns), times), part)
            for part in self.parts
        ]

    def column(self, path: str) -> Column:
        """The values at a path of the payload; with an empty path, the data of every frame."""
        found = self._columns.get(path)
        if found is None:
            found = self._columns[path] = Column(self._values[path] if path else self._data())
        return found

    def _data(self) -> list[str]:
        return [self.template.data(row).decode() for row in self._rows]

    def frames(self, begin: int = 0, end: int | None = None) -> Iterator[Frame]:
        """The frames between two indices as the parser would have given them."""
        at = self.offset + self.size - self._length(self._rows[begin:])
        return iter(FrameRows(self.template, self._rows[begin:end], self.frame, at))

    def frame_at(self, index: int) -> tuple[Frame, float | None]:
        """One of the frames, and when it came."""
        frame = next(self.frames(index, index + 1))
        return frame, next((ms for upto, ms in self.times if upto > index), None)

    def misfits(self, number: int) -> list[Misfit]:
        """Who would find something, or meet a cap; `number` is that of the last frame before."""
        return [
            (at, slice_, act)
            for at, (stretch, part) in enumerate(self.stretches(number))
            for slice_, _, act in part.acts
            if not act.fits(slice_, stretch)
        ]

    def fitting(self, number: int, misfits: Sequence[Misfit]) -> int:
        """How many of the first frames fit, found by halving.

        What does not fit in a few frames does not fit in more of them either.
        """
        fits, unfit = 0, self.count
        while unfit - fits > 1:
            middle = (fits + unfit) // 2
            stretches = self.upto(middle).stretches(number)
            if all(act.fits(slice_, stretches[at][0]) for at, slice_, act in misfits):
                fits = middle
            else:
                unfit = middle
        return fits

    def latest(self, count: int) -> FrameRows:
        """The last of the frames, at most `count`."""
        rows = self._rows[-count:]
        at = self.offset + self.size - self._length(rows)
        return FrameRows(self.template, rows, self.frame, at)

    def joined(self) -> tuple[Any, str]:
        """One payload for the whole stretch, with all of its text in one delta; and that text."""
        whole = self.column(self.columns.text).joined
        payload = msgspec.json.decode(self.template.data(self._rows[-1]))
        set_text(payload, self.columns, whole)
        return payload, whole

    def upto(self, count: int) -> Run:
        """The first frames alone."""
        return self._cut(0, count, self.frame, self.parts)

    def after_first(self, count: int, frame: Frame, parts: Sequence[Part]) -> Run:
        """The frames after the first, for other readers; `frame` is the last one read."""
        return self._cut(count, self.count, frame, parts)

    def emptied(self) -> Run:
        """The same run after the frames that it has taken, without them."""
        return self.after_first(self.count, self.frame, self.parts)

    def _cut(self, begin: int, end: int, frame: Frame, parts: Sequence[Part]) -> Run:
        at = self.offset + self._length(self._rows[:begin])
        run = Run(self.template, frame, self.columns, parts, at, waiting=self.waiting)
        run.total = self.total
        run._window = self._window
        run._rows = self._rows[begin:end]
        run._values = {path: values[begin:end] for path, values in self._values.items()}
        run.size = self._length(run._rows)
        for upto, ms in self.times:
            if upto > begin:
                run.times.append((min(upto, end) - begin, ms))
            if upto >= end:
                break
        return run

    def _length(self, rows: Sequence[bytes]) -> int:
        return sum(map(len, rows)) + self.template.around * len(rows)


class _Columns(Mapping[str, Column]):
    """The columns of one event of a run; each is built when it is first read."""

    def __init__(self, run: Run, places: Mapping[str, str]) -> None:
        self._run = run
        self._places = places

    def __getitem__(self, path: str) -> Column:
        return self._run.column(self._places[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def is_delta(events: Sequence[Event]) -> bool:
    """Whether a frame gave one delta and nothing else, so that a run may follow."""
    # Semantic events come after wire events.
    if not events or events[-1].layer != "semantic" or events[-1].type not in TEXTS:
        return False
    return len(events) < 2 or events[-2].layer != "semantic"


def frame_template(frame: Frame, payload: Any, columns: DeltaColumns) -> Template | None:
    """The template of a delta that has just been read; None where it has none."""
    name = frame.event if frame.named else None
    return template(name, frame.data, payload, columns.paths, is_line=frame.kind == "line")


def parts_of(
    judge: Judge, payload: Any, columns: DeltaColumns, events: Sequence[Event]
) -> list[Part] | None:
    """Who reads the events of more such frames; None unless all of them are still."""
    if any(getter(path)(payload) == "" for path in columns.paths):
        return None  # the texts of a run are never empty, and that may make a difference
    text = getter(columns.text)(payload)
    if any(getter(path)(payload) != text for path in columns.mirrors):
        return None
    if not is_unchanged_text(text, columns, events[-1]):
        return None
    places: list[dict[str, str]] = []
    for event in events:
        found = _places(event, payload, columns)
        if found is None:
            return None
        places.append(found)
    repeating = judge.repeating(
        [
            Repeated(event, tuple(found), _mirrored(found, columns))
            for event, found in zip(events, places, strict=True)
        ]
    )
    if repeating is None:
        return None
    return [
        Part(event, found, *taking)
        for event, found, taking in zip(events, places, repeating, strict=True)
    ]


def _mirrored(places: Mapping[str, str], columns: DeltaColumns) -> tuple[str, ...]:
    """The columns of an event that all hold the one text."""
    texts = (columns.text, *columns.mirrors)
    return tuple(path for path, place in places.items() if place in texts)


def _places(event: Event, payload: Any, columns: DeltaColumns) -> dict[str, str] | None:
    """Columns of an event: path in the event -> path in the payload ("" for the whole data)."""
    if event.layer == "semantic":
        return {TEXTS[event.type]: columns.text}
    if event.type in ("sse.frame", "line.frame"):
        return {"data": "", **{f"json.{path}": path for path in columns.paths}}
    if (holder := columns.within.get(event.type)) is not None:
        above = f"{holder}."
        return {p.removeprefix(above): p for p in columns.paths if p.startswith(above)}
    return {path: path for path in columns.paths} if event.data == payload else None
