"""Shrinks a recording that breaks a rule until it barely does: delta debugging over its events.

Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input (ddmin), IEEE TSE 2002.

Rule 1: every smaller recording is judged anew, by the whole rulebook. It counts if it has the same
finding (by id) and fails no additional rule: the result shows one fault, and none that the cutting
made.
Rule 2: exchanges go first, then runs of deltas become one delta each and output items go whole
(`simplification`), then events are left out one by one.
Rule 3: it takes at most `seconds` and `trials`; the smallest recording so far is the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import Cassette
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.editing.piece import Piece
from conformance.judging.result import Finding
from conformance.judging.rulebook import Rulebook
from conformance.mutate.stream import take_apart
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.check import check_recording
from conformance.recordings.in_memory import InMemory
from conformance.report.selection import SelectedFinding
from conformance.report.simplification import merge_deltas, without_items
from conformance.rules.verdicts import Verdict

SECONDS: Final = 20.0
TRIALS: Final = 600
Fails = Callable[[Sequence[Piece]], bool]
_BAD: Final = (Verdict.FAIL, Verdict.ERROR)


class ReducedRecording(Struct, frozen=True):
    """The smaller recording, with the finding in it; events are counted over all exchanges."""

    cassette: Cassette
    finding: Finding
    events_before: int
    events: int
    is_complete: bool  # no time or trial ran out


class _Trials(Struct):
    """Judges smaller recordings within bounds, and keeps the smallest that still fails."""

    selected: SelectedFinding
    rulebook: Rulebook
    deadline: float
    left: int
    clock: Callable[[], float]
    allowed: frozenset[str] = frozenset()
    is_complete: bool = True
    failing: set[str] = field(default_factory=set)

    def fails(self, cassette: Cassette) -> bool:
        """Whether this recording still shows the finding, and nothing new."""
        if self.left <= 0 or self.clock() > self.deadline:
            self.is_complete = False
            return False
        self.left -= 1
        try:
            return self.judge(cassette) is not None and self.failing <= self.allowed
        except ConformanceError:  # too small to be judged at all
            return False

    def judge(self, cassette: Cassette) -> Finding | None:
        """The finding in this recording; None if it is gone."""
        path = self.selected.recording.path
        streams = check_recording(
            InMemory(path, "cassette", cassette), self.rulebook, self.selected.choices
        )
        self.failing = {r for s in streams for r, verdict in s.verdicts.items() if verdict in _BAD}
        wanted = self.selected.finding
        found = (
            f for s in streams for f in s.findings if (f.rule, f.id) == (wanted.rule, wanted.id)
        )
        return next(found, None)


def reduce_recording(
    selected: SelectedFinding,
    cassette: Cassette,
    rulebook: Rulebook,
    *,
    seconds: float = SECONDS,
    trials: int = TRIALS,
    clock: Callable[[], float] = time.monotonic,
) -> ReducedRecording | None:
    """The smallest recording found in the given time; None if `cassette` does not fail.

    `cassette` is the recording, already without secrets.
    """
    running = _Trials(selected, rulebook, clock() + seconds, trials, clock)
    if running.judge(cassette) is None:
        return None
    running.allowed = frozenset(running.failing)
    small = _fewer_exchanges(cassette, running)
    for exchange in small.exchanges:
        small = _fewer_events(small, exchange, running)
    finding = running.judge(small)
    assert finding is not None  # every step kept it
    before, after = (sum(map(_event_count, each.exchanges)) for each in (cassette, small))
    return ReducedRecording(small, finding, before, after, running.is_complete)


def _event_count(exchange: Exchange) -> int:
    return len(take_apart(exchange, exchange.dialect or "").pieces)


def _fewer_exchanges(cassette: Cassette, running: _Trials) -> Cassette:
    for exchange in cassette.exchanges:
        others = tuple(each for each in cassette.exchanges if each.number != exchange.number)
        if others:
            fewer = replace(cassette, exchanges=others)
            cassette = fewer if running.fails(fewer) else cassette
    return cassette


def _fewer_events(cassette: Cassette, exchange: Exchange, running: _Trials) -> Cassette:
    stream = take_apart(exchange, running.selected.stream.dialect)

    def with_pieces(pieces: Sequence[Piece]) -> Cassette:
        edited = stream.with_pieces(pieces).renumbered().result()
        every = cassette.exchanges
        exchanges = tuple(edited if each.number == exchange.number else each for each in every)
        return replace(cassette, exchanges=exchanges, sealed=False)

    def fails(pieces: Sequence[Piece]) -> bool:
        return running.fails(with_pieces(pieces))

    pieces: Sequence[Piece] = stream.pieces
    judged = running.selected.stream
    simpler = merge_deltas(stream, reading(profile_at_hand(judged.profile, judged.dialect)))
    if len(simpler) < len(pieces) and fails(simpler):
        pieces = simpler
    pieces = minimise_items(_fewer_items(pieces, stream.dialect, fails), fails)
    return with_pieces(pieces) if tuple(pieces) != stream.pieces else cassette


def _fewer_items(pieces: Sequence[Piece], dialect: str, fails: Fails) -> Sequence[Piece]:
    for fewer in without_items(pieces, dialect):
        if fewer and fails(fewer):
            return _fewer_items(fewer, dialect, fails)  # at most once for each item
    return pieces


def minimise_items(items: Sequence[Piece], fails: Fails) -> Sequence[Piece]:
    """As few of the items as still fail, by leaving out ever smaller parts."""
    parts = 2
    while len(items) > 1 and parts <= len(items):
        size = -(-len(items) // parts)
        for start in range(0, len(items), size):
            rest = [*items[:start], *items[start + size :]]
            if rest and fails(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(parts * 2, len(items))
    return items
