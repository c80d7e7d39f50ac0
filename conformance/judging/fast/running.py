"""The fast wire view: runs of deltas are judged in bulk, everything else frame by frame.

Nearly all of a long stream is the same frame repeated with another text and another number. Reading
each one costs the decoder, the dialect's reader and every rule that listens to it; most of their
work only shows that nothing has changed. So once a delta has been read the usual way and enough
similar ones follow, `Judge.repeating` checks whether one more would leave every slice in its state,
with acts that only collect. If so, a *run* begins: frames are only cut at the bytes that they share
(`template`), and the acts get the differing values as columns, many frames at a time (`runs`).

Why this is sound:

Invariant 1: the outcome equals that of `WireView`, frame by frame: verdicts, reasons, findings and
their numbers. A differential test checks it for generated streams, every cassette, mutant and
recording, under random chunking, with a clock and without. Where the two differ, this is wrong.
Invariant 2: only certain frames are taken. A template takes only what the SSE parser and the
JSON decoder would give for those bytes; an act that cannot decide is not still; a dialect names
the columns of a delta or none. Every doubt leads to the usual way, never to a guess.
Invariant 3: acts never get a column that does not *fit*. Before they get a stretch, each act
answers whether it would find something in it, or meet a cap; the question changes nothing. If a
stretch fits, so does each beginning of it, so halving finds the first frame that does not fit. That
frame is read the usual way, with its findings, and the run goes on after it if all acts are still.
Invariant 4: time depends on the bytes, not on the calls. Chunks are joined before they are read;
each frame keeps the time of the chunk that holds its last byte (`clock`).
Invariant 5: work is bounded on hostile input. A run that turns out short, or in which much does not
fit, delays the next attempts; at worst a stream costs little more than frame by frame.
Invariant 6: rules and dialects take part in runs by two declarations only: a dialect lists the
columns of a payload, an act has `still`, `fits` and `extend`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

from conformance.core.clock import ByteClock, JoinedChunks, WaitingChunks, chunk_times, join_chunks
from conformance.core.errors import HarnessError
from conformance.core.events import Chunk, Ending, Event, Exchange, Frame
from conformance.core.json_values import NOT_JSON
from conformance.core.lines import LineParser
from conformance.core.sse import Parser
from conformance.judging.fast.runs import Run, frame_template, is_delta, parts_of
from conformance.judging.fast.template import frames_end, line_end
from conformance.judging.findings import MOST_REMEMBERED
from conformance.judging.scenario import ScenarioJudge
from conformance.judging.transcript import Transcript
from conformance.judging.view import EventListener, JudgedView, JudgeSetting
from conformance.judging.wire import WireView

StreamParser = Parser | LineParser

LONGEST_HELD: Final = 1 << 16  # bytes of one unfinished frame that a run waits for
SHORT: Final = 5  # a run of fewer frames was not worth its beginning
ENOUGH: Final = 6  # deltas at hand for which a run is begun
MOST_ALONE: Final = 4  # deltas that are read by themselves before it is tried all the same
_BEGINNING: Final = 32  # similar frames are equal in so many first bytes
MOST_PATIENCE: Final = 64
MOST_WAITING: Final = 64  # chunks of a stream under way that wait inside a run
MOST_BYTES_WAITING: Final = 1 << 13
MOST_MISFITS: Final = 8  # frames of one run that do not fit, before it is given up


def check_wire(
    setting: JudgeSetting,
    exchange: Exchange,
    chunks: Iterable[Chunk],
    end: Ending,
    *,
    scenario: ScenarioJudge | None = None,
    is_last: bool = True,
    transcript: Transcript | None = None,
    listener: EventListener | None = None,
) -> JudgedView:
    """Judges the bytes of one exchange as they arrive, in bounded memory.

    `scenario` goes on over several exchanges; the last one's result holds its verdicts.
    `transcript` takes the events as they go by, those of a run joined to one; so does `listener`.
    """
    several = scenario is not None and bool(setting.bound.scenario.rules)
    if several or setting.keep:
        view = WireView(setting, exchange, scenario)
        view.transcript, view.listener = transcript, listener
        for data, ms in chunk_times(chunks):
            view.feed(data, ms)
        return view.finish(end, is_last=is_last)
    running = RunningView(setting, exchange, scenario)
    running.transcript, running.listener = transcript, listener
    for each in join_chunks(chunks):
        running.feed_gathered(each)
    return running.finish(end, is_last=is_last)


class RunningView(WireView):
    """One exchange as the server sent it, with runs of deltas taken in bulk."""

    def __init__(
        self, setting: JudgeSetting, exchange: Exchange, scenario: ScenarioJudge | None = None
    ) -> None:
        super().__init__(setting, exchange, scenario)
        self._run: Run | None = None
        self._held = b""
        self._waiting = WaitingChunks()
        self._patience = 0  # frames to wait before the next attempt
        self._deltas = 0  # that came one after the other and were read by themselves
        self._failures = 0
        self._most_alone = MOST_ALONE  # where a run paid, the next one begins at once

    def feed(self, data: bytes, ms: float | None) -> None:
        """Takes the next chunk of a stream under way; inside a run, a few wait for each other."""
        is_over = self._run is None
        if self._run is not None:
            waiting = self._run.waiting
            is_between = not self._waiting and not self._held
            if is_between and waiting.add(data, ms):
                if waiting.is_full:
                    self._hand_over_rows(self._run)
                return
            if waiting.rows:
                self._hand_over_rows(self._run)
            is_over = is_between and not waiting.begins(data)
        if not self._waiting.agrees(ms):
            self._hand_over()
        self._waiting.add(data, ms)
        waits = len(self._waiting) < MOST_WAITING and self._waiting.size < MOST_BYTES_WAITING
        if is_over or self._run is None or not waits:
            self._hand_over()

    def catch_up(self) -> None:
        """Judges what waits inside a run; the outcome is the same without it."""
        if self._run is not None and self._run.waiting.rows:
            self._hand_over_rows(self._run)
        if self._waiting:
            self._hand_over()

    def _hand_over_rows(self, run: Run) -> None:
        """Takes frames of the run of which only the rows are left."""
        rows, times = run.waiting.take()
        size = run.take_rows(rows, times)
        if size is None:  # no rows after all: the frames are read as they came
            for row, ms in zip_longest(rows, times):
                self._waiting.add(run.waiting.frame(row), ms)
            self._hand_over()
            return
        self.bytes += size
        if self.framer.stream is not None:
            self.framer.stream.skip(size)
        self.judge.ms = times[-1] if times else None
        self._show_rules(run)

    def _hand_over(self) -> None:
        """Takes what has waited, and lets nothing of it wait a second time."""
        self.feed_gathered(self._waiting.take())
        if self._run is not None and self._run.count:
            self._show_rules(self._run)

    def feed_gathered(self, gathered: JoinedChunks) -> None:
        """Takes chunks that were joined; the outcome is that of feeding them one by one."""
        self.bytes += len(gathered.data)
        for _, each in self.framer.settle(gathered.data, gathered):
            self._read_gathered(each, self.framer.stream)
        self.judge.ms = gathered.times[-1] if gathered.times else None

    def _read_gathered(self, gathered: JoinedChunks, parser: StreamParser | None) -> None:
        self.judge.ms = gathered.times[-1] if gathered.times else None
        buffer, self._held, at = self._held + gathered.data, b"", 0
        clock = ByteClock(len(buffer) - len(gathered.data), gathered)
        if parser is None:
            for stop, self.judge.ms in clock.pieces(0, len(buffer)):
                self.read(buffer[at:stop])
                at = stop
        while parser is not None and at < len(buffer):
            if self._run is not None:
                size = self._take(self._run, parser, buffer, at, clock)
                if size is None:
                    self._held = buffer[at:]
                    break
                at += size
            if self._run is None and at < len(buffer):
                at = self._step(parser, buffer, at, clock)

    def _take(
        self, run: Run, parser: StreamParser, buffer: bytes, at: int, clock: ByteClock
    ) -> int | None:
        """Bytes taken by the run, which ends at 0; None to wait for the rest of a frame."""
        taken = run.take(buffer, at)
        if taken is not None:
            run.add(taken, clock.rows(run.ends(taken, at)) if clock.ticks else ())
            parser.skip(taken.size)
            if run.is_full:
                self._show_rules(run)
            return taken.size
        if self._may_go_on(run, buffer, at):
            return None
        self._end_run(run)
        return 0

    @staticmethod
    def _may_go_on(run: Run, buffer: bytes, at: int) -> bool:
        """Whether the remaining bytes may begin the run's next frame."""
        head = run.template.head + run.template.first
        left = len(buffer) - at
        if left > LONGEST_HELD or buffer.find(run.template.end, at) >= 0:
            return False
        if not buffer.startswith(head, at):
            return head.startswith(buffer[at:])
        # A line that ends otherwise may already have ended a frame, at the time it came.
        ends = buffer.find(b"\n", at + len(head))
        return buffer.find(b"\r", at) < 0 and ends in (-1, len(buffer) - 1)

    def _step(self, parser: StreamParser, buffer: bytes, at: int, clock: ByteClock) -> int:
        """Reads the next frame the usual way, up to its end; where that was."""
        end_of = frames_end if isinstance(parser, Parser) else line_end
        stop = end_of(buffer, at)
        begin, frames = at, list[Frame]()
        for upto, ms in clock.pieces(at, stop):
            self.judge.ms = ms
            found = parser.feed(buffer[at:upto])
            for frame in found:
                events = self.frame(frame)
            frames += found
            at = upto
        if len(frames) == 1 and is_delta(events) and parser.is_between:
            self._deltas += 1
            if self._is_worthwhile(buffer, begin, stop):
                ahead = buffer[stop : end_of(buffer, stop)]
                self._run = self._begun(frames[0], events, parser.position, ahead)
        elif frames:
            self._deltas = 0
        return stop

    def _is_worthwhile(self, buffer: bytes, begin: int, stop: int) -> bool:
        """Whether there are enough deltas like the one just read for a run to pay.

        Deltas that follow with the same beginning count, or those that came one by one before it.
        """
        if self._patience > 0:
            self._patience -= 1
            return False
        if self._deltas >= self._most_alone:
            return True
        size = stop - begin
        head = buffer[begin : min(begin + _BEGINNING, stop)]
        return buffer.count(head, stop, stop + 2 * ENOUGH * size) >= ENOUGH

    def _begun(self, frame: Frame, events: list[Event], at: int, ahead: bytes) -> Run | None:
        """The run that may follow the delta just read; None if there cannot be one.

        If the next frame, `ahead`, is of another kind, no rule has to be consulted.
        """
        payload = events[0].data.get("json", NOT_JSON)
        columns = self.setting.dialect.columns(payload, self.setting.bound.reading)
        if columns is None:
            return None
        found = frame_template(frame, payload, columns)
        if found is not None and found.may_begin(ahead):
            parts = parts_of(self.judge, payload, columns, events)
            if parts is not None:
                return Run(found, frame, columns, parts, at)
        self._failed()
        return None

    def _failed(self) -> None:
        self._failures += 1
        self._patience = min(1 << self._failures >> 3, MOST_PATIENCE)

    def _end_run(self, run: Run) -> None:
        self._show_rules(run)
        if run.total < SHORT:
            self._failed()
        else:
            self._failures = 0
        self._most_alone = 1 if run.total >= MOST_ALONE else MOST_ALONE
        self._run = None

    def _show_rules(self, run: Run) -> None:
        """Shows the rules what the run has taken: at once as far as it fits, else frame by frame.

        What does not fit is read by itself; where that happens too often, so is all the rest.
        """
        for _ in range(MOST_MISFITS):
            misfits = run.misfits(self.trace.number) if run.count else []
            if not misfits:
                if run.count:
                    self._extend(run)
                self._run = run.emptied()
                return
            fitting = run.fitting(self.trace.number, misfits)
            if fitting:
                self._extend(run.upto(fitting))
            run, is_still = self._single(run, fitting)
            if not is_still:
                break
        self._replay(run)

    def _extend(self, run: Run) -> None:
        for stretch, part in run.stretches(self.trace.number):
            for slice_, _, act in part.acts:
                act.extend(slice_, stretch)
            self.judge.repeated(part.letters, stretch.event, stretch.last)
        self._move_on(run)

    def _single(self, run: Run, at: int) -> tuple[Run, bool]:
        """Reads one frame by itself; the run after it, and whether the rules are still there."""
        frame, ms = run.frame_at(at)
        now, self.judge.ms = self.judge.ms, ms
        events = self.frame(frame)
        self.judge.ms = now
        payload = events[0].data["json"]
        parts = parts_of(self.judge, payload, run.columns, events) if is_delta(events) else None
        return run.after_first(at + 1, frame, parts or run.parts), parts is not None

    def _move_on(self, run: Run) -> None:
        number = self.trace.number
        kind = next(part.event.type for part in run.parts if part.event.layer == "wire")
        self.trace.number = self.judge.last = number + run.count
        latest = run.latest(MOST_REMEMBERED)
        self.memory.recall(self.trace.number, latest, kind)
        payload, text = run.joined()
        events = self.trace.reader.read(run.frame, payload, self.trace.number)
        spoken = [event for event in events if event.layer == "semantic"]
        if len(spoken) != 1 or text not in spoken[0].data.values():
            raise HarnessError("a dialect reads joined deltas other than single ones")
        if self.transcript is not None:
            self.transcript.take(spoken)
        if self.listener is not None:
            self.listener(events)  # a detail of Chat, say, comes back by its own text

    def _replay(self, run: Run) -> None:
        """Reads what the run has taken frame by frame; it is over."""
        times = iter([*run.times, (run.count, self.judge.ms)])
        upto, ms = next(times)
        now = self.judge.ms
        for at, frame in enumerate(run.frames(), 1):
            while at > upto:
                upto, ms = next(times)
            self.judge.ms = ms
            self.frame(frame)
        self.judge.ms = now
        self._run = None  # what does not fit once is read frame by frame for a while
        self._failed()

    def finish(self, how: Ending, *, is_last: bool = True) -> JudgedView:
        if self._run is not None and self._run.waiting.rows:
            self._hand_over_rows(self._run)
        if self._waiting:
            self._hand_over()
        if self._run is not None:
            self._end_run(self._run)
        if self._held:
            held, self._held = self._held, b""
            self.read(held)
        return super().finish(how, is_last=is_last)
