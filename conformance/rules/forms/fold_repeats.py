"""Folds with `repeats`: no text comes twice.

Rule 1: a delta repeats neither the one before it nor the whole text of its part so far.
Rule 2: a part does not begin with the whole of another one: a repeated block, or the raw text of a
        thought as its summary.
Rule 3: only texts of `at_least` so many characters count: words and lines may recur.
Rule 4: with `broken_off`, a part that ends in the middle of a sentence counts from so many
        characters on: a later part that begins with all of it repeats a try that was left on the
        screen. It is judged at events of `ends`, since parts may be open in parallel.
Rule 5: after an event of `afresh` a part is not compared with earlier ones: a model may repeat a
        thought after it got the result of a call.
Rule 6: with `doubled`, so many deltas of a part in a row do not each come twice. Words may recur,
        so the pairs say at least THREE_TEXTS different things and LETTERS characters.
Rule 7: with `restated`, no delta begins with all of its part so far, if that has so many
        characters, came in several deltas and is not one phrase again and again. Nor does a part
        say its beginning twice in a row and go on, if that breaks off in a sentence: a try that was
        left before the next. That is judged at events of `ends`.
Only the first LONGEST characters of a part and the first MOST_PARTS parts of a slice count.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from operator import eq
from typing import Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.core.excerpts import beginning
from conformance.rules.about import About, BreachKind
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    FIRED,
    OPEN,
    Act,
    Breach,
    Key,
    Machine,
    Names,
    Report,
    ReportAct,
    Slice,
    State,
    Step,
)
from conformance.rules.paths import getter
from conformance.rules.repetition import Column, Columns, Stretch

LONGEST: Final = 64 * 1024
MOST_PARTS: Final = 64
THREE_TEXTS: Final = 3
LETTERS: Final = 12
_GOES_ON: Final = frozenset(",;(-\u2013\u2014")  # a sentence continues after these


class _DeltaPairs:
    """Deltas in a row that each came twice (rule 6).

    They are counted, not kept: a stream may repeat one for ever.
    """

    __slots__ = ("_count", "_different", "_letters", "_single", "_size", "_texts")

    def __init__(self) -> None:
        self._single: str | None = None  # the delta before, where it came once so far
        self._clear()

    def _clear(self) -> None:
        self._count = self._letters = self._size = 0
        self._different: frozenset[str] = frozenset()  # at most THREE_TEXTS
        self._texts: list[str] = []  # the first LONGEST characters

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def add(self, piece: str) -> bool:
        """Takes the next delta; whether it is the second of a pair."""
        if piece != self._single:
            if self._single is not None and self._count:
                self._clear()
            self._single = piece
            return False
        self._single = None
        self._count += 1
        self._letters += len(piece.strip())
        if len(self._different) < THREE_TEXTS:
            self._different |= {piece}
        if piece and self._size < LONGEST:
            self._size += len(piece)
            self._texts.append(piece)
        return True

    def add_all(self, pieces: Column) -> None:
        """Takes many deltas, the same as one by one."""
        if pieces[0] == self._single or any(map(eq, pieces, islice(pieces, 1, None))):
            for piece in pieces:
                self.add(piece)
            return
        if len(pieces) > 1 or self._single is not None:
            self._clear()
        self._single = pieces[-1]

    def would_be(self, count: int, pieces: Column) -> bool:
        """Whether they would be so many somewhere in these deltas."""
        if not any(map(eq, pieces, islice(pieces, 1, None))) and pieces[0] != self._single:
            return False
        tried = _DeltaPairs()
        tried._single, tried._different = self._single, self._different
        tried._count, tried._letters = self._count, self._letters
        return any(tried.add(piece) and tried.are(count) for piece in pieces)

    def are(self, count: int) -> bool:
        """Whether they are so many, and no word or line that recurs."""
        is_varied = len(self._different) >= THREE_TEXTS and self._letters >= LETTERS
        return is_varied and self._count >= count


class _SpokenPart:
    """One part: its text, its last delta if that is long, and the parts that it may repeat."""

    __slots__ = ("_pieces", "alike", "begun", "count", "last", "pairs", "size", "spoke")

    def __init__(self, alike: list[_SpokenPart], number: int) -> None:
        self._pieces: list[str] = []
        self.size = self.count = 0
        self.last = ""
        self.pairs = _DeltaPairs()
        self.alike = alike  # parts whose text is the same so far, as far as both go
        self.begun = self.spoke = number  # of the events that began it and that added to it

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, piece: str, count: int = 1) -> _SpokenPart | None:
        """Takes the next pieces; gives a part whose whole text this one begins with."""
        self.count += count
        at, new = self.size, piece[: LONGEST - self.size]
        self._pieces.append(new)
        self.size += len(new)
        if not self.alike:
            return None
        for other in tuple(self.alike):
            if not (new.startswith(begun := other.text[at : self.size]) or begun == new):
                self.alike.remove(other)
                other.alike.remove(self)
        return next((each for each in self.alike if 0 < each.size <= self.size), None)

    def broken_off(self, at_least: int) -> _SpokenPart | None:
        """An earlier part that broke off, with which this one begins and goes on (rule 4)."""
        earlier = (each for each in self.alike if each.spoke < self.begun)
        return next(
            (each for each in earlier if each.size < self.size and each.is_cut(at_least)), None
        )

    def is_cut(self, at_least: int) -> bool:
        """Whether it ends in the middle of a sentence."""
        return _is_cut(self.text, at_least)

    def begun_anew(self, at_least: int) -> str:
        """What it says twice in a row from its beginning, before it goes on (rule 7)."""
        text = self.text if at_least and self.size < LONGEST else ""
        at = text.find(text[:at_least], at_least) if text else -1
        if at < 0 or not text.startswith(text[:at], at) or not _is_cut(text[:at], at_least):
            return ""
        begun, rest = text[:at], text[2 * at :]
        goes_on = rest and not (rest.startswith(begun) or begun.startswith(rest))
        return begun if goes_on and not _is_refrain(begun) else ""


def _is_cut(text: str, at_least: int) -> bool:
    shown = text.strip()
    return len(shown) >= at_least and (shown[-1].isalnum() or shown[-1] in _GOES_ON)


def _is_refrain(text: str) -> bool:
    """Whether a text is one phrase again and again: then it recurs in itself."""
    return any(each in (each * 2)[1:-1] for each in (text, f"{text.strip()} "))


def _restates_text(piece: str, before: str, at_least: int) -> bool:
    """Whether a delta begins with the whole text so far (rule 7)."""
    if not 0 < at_least <= len(before) <= len(piece) or not piece.startswith(before):
        return False
    return len(before) < LONGEST and not _is_refrain(before)


class _SliceParts(dict[Key, _SpokenPart]):
    """The parts of a slice, and the one that spoke last."""

    latest: _SpokenPart | None = None

    def forget(self) -> None:
        self.clear()
        self.latest = None


class Repeats(Struct, frozen=True):
    """Options of the fold: the fields of a part, how long a repetition is, what begins afresh."""

    parts: tuple[str, ...]
    at_least: int
    afresh: tuple[str, ...] = ()
    broken_off: int = 0  # how long a part is that broke off; 0 is none
    ends: tuple[str, ...] = ()
    doubled: int = 0  # how many deltas in a row come twice; 0 is none
    restated: int = 0  # how long all so far is that a delta begins with; 0 is none


class RepeatsMachine(Machine):
    """Finds text that comes twice."""

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        over: Mapping[str, str],
        form: Repeats,
        *,
        sliced: bool,
    ) -> None:
        super().__init__(aliases, sliced=sliced)
        self.over = over
        self.form = form
        self._key_fields = tuple(getter(path) for path in form.parts)

    def memory(self) -> _SliceParts:
        return _SliceParts()

    def opens(self, names: Names) -> bool:
        return not names.isdisjoint(self.over)

    def step(self, state: State, names: Names) -> Step:
        if own := names & self.over.keys():
            return state, (_TakePiece(self, self.over[min(own)], is_first=state is OPEN),)
        if names.isdisjoint(self.form.afresh):
            return state, (ReportAct(self._compare),)
        return state, (ReportAct(self._forget),)

    def _forget(self, slice_: Slice, event: Event) -> None:
        del event
        slice_.memory[self.position].forget()

    def _compare(self, slice_: Slice, event: Event) -> Breach | None:
        del event
        latest: _SpokenPart | None = slice_.memory[self.position].latest
        tried = latest and latest.alike and latest.broken_off(self.form.broken_off)
        if tried:
            return _repeat_breach(tried.text, "what a part that broke off said")
        begun = latest.begun_anew(self.form.restated) if latest else ""
        return _repeat_breach(begun, "what a part began with") if begun else None

    def part_of(self, slice_: Slice, event: Event) -> _SpokenPart | None:
        """The part that an event adds to; None at the cap of parts."""
        parts: _SliceParts = slice_.memory[self.position]
        data = event.data
        key = tuple([str(get(data)) for get in self._key_fields])
        part = parts.get(key)
        if part is None and len(parts) < MOST_PARTS:
            others = list(parts.values())
            part = parts[key] = _SpokenPart(others, event.number)
            for each in others:
                each.alike.append(part)
        if part is not None:
            part.spoke, parts.latest = event.number, part
        return part


class _TakePiece(Act):
    collects = True

    def __init__(self, machine: RepeatsMachine, path: str, *, is_first: bool) -> None:
        self.machine = machine
        self.path = path
        self.get = getter(path)
        self.is_first = is_first

    def perform(self, slice_: Slice, event: Event) -> Report:
        piece, part = self.get(event.data), self.machine.part_of(slice_, event)
        if part is None or not isinstance(piece, str) or not piece:
            return None
        at_least = self.machine.form.at_least
        is_long = len(piece) >= at_least
        if is_long and piece in (part.last, part.text):
            return _repeat_breach(piece, "the delta before" if piece == part.last else "all so far")
        is_pieced = part.count > 1 and len(piece) >= part.size
        if is_pieced and _restates_text(piece, part.text, self.machine.form.restated):
            return _repeat_breach(part.text, "all so far")
        has_more = bool(part.size or part.alike)
        other = part.add(piece)
        part.last = piece if is_long else ""
        if other is not None and other.size >= at_least:
            return _repeat_breach(other.text, "what another part said")
        doubled = self.machine.form.doubled
        if doubled and part.pairs.add(piece) and part.pairs.are(doubled):
            return _repeat_breach(part.pairs.text, f"each of the last {doubled} deltas")
        return FIRED if self.is_first and has_more else None

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        if self.is_first or self.path not in columns or {*columns} & {*self.machine.form.parts}:
            return False
        part = self.machine.part_of(slice_, event)
        return part is None or not part.alike

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        column = stretch.columns.get(self.path)
        if column is None:
            return True
        form = self.machine.form
        part = self.machine.part_of(slice_, stretch.event)
        if part is None:
            return True
        if form.doubled and part.pairs.would_be(form.doubled, column):
            return False
        if form.restated and self._is_restated(column, part):
            return False
        return column.longest < form.at_least or not self._comes_again(column, part)

    def _is_restated(self, column: Column, part: _SpokenPart) -> bool:
        """Whether one of these pieces begins with all so far (rule 7)."""
        size, at_least = part.size, self.machine.form.restated
        for count, piece in enumerate(column, part.count):
            if size > column.longest:
                break
            so_far = (part.text + column.joined)[:size] if size <= len(piece) else ""
            if count > 1 and _restates_text(piece, so_far, at_least):
                return True
            size += len(piece)
        return False

    def _comes_again(self, column: Column, part: _SpokenPart) -> bool:
        """Whether one of these pieces is the one before it, or all so far (rule 1)."""
        before, size = part.last, part.size
        for piece in column:
            is_long = len(piece) >= self.machine.form.at_least
            if is_long and piece == before:
                return True
            if is_long and len(piece) == size and piece == (part.text + column.joined)[:size]:
                return True
            before, size = piece if is_long else "", min(size + len(piece), LONGEST)
        return False

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        column = stretch.columns.get(self.path)
        part = self.machine.part_of(slice_, stretch.event)
        if column is not None and part is not None:
            part.add(column.joined, len(column))
            part.pairs.add_all(column)
            part.last = column[-1] if len(column[-1]) >= self.machine.form.at_least else ""


def _repeat_breach(text: str, what: str) -> Breach:
    shown = repr(beginning(text, 60))
    message = f"{what} ({len(text):,} characters) comes once more: {shown}"
    return Breach(message, ("text that is new",), shown, about=About(BreachKind.REPEATED))
