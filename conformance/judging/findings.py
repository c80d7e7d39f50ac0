"""Turns violations into findings: their place in the bytes, the context, and a stable id."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from msgspec.structs import replace

from conformance.core.events import Event, Frame, Request
from conformance.core.excerpts import (
    MARGIN,
    both_ends,
    outer_parts,
    without_pieces,
    without_split_keys,
)
from conformance.judging.result import ContextLine, Finding, ReferencedEvent
from conformance.rules.forms.base import Violation
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

CONTEXT: Final = 3
CLIP: Final = 156  # characters of a frame that a finding shows
_HEAD: Final = 56  # of them its first: deltas differ here or at the end
_TAIL: Final = CLIP - _HEAD - 1
_ORDERED: Final = frozenset({"grammar", "never", "response"})  # forms that speak of types
MOST_REMEMBERED: Final = 64
"""Frames in which a key may come in pieces: those that are shown, and those before them."""


def clip_text(text: str) -> str:
    """A long text's beginning and end, without secrets."""
    return both_ends(text, _HEAD, _TAIL)


class RememberedFrame:
    """A frame, with as much of its text as a finding may show; redacted once for all findings."""

    __slots__ = ("_shown", "kind", "number", "offset", "text")

    def __init__(self, number: int, offset: int | None, kind: str, text: str) -> None:
        self.number = number
        self.offset = offset
        self.kind = kind
        self.text = text if len(text) <= MARGIN else outer_parts(text, _HEAD, _TAIL)
        self._shown: str | None = None

    def shown(self, text: str) -> str:
        """What a finding shows; `text` is that of the frame, without the pieces of keys."""
        if text != self.text:
            return clip_text(text)
        if self._shown is None:
            self._shown = clip_text(text)
        return self._shown


def wire_kind(frame: Frame, events: Sequence[Event]) -> str:
    """The type of a frame as its dialect has it, else its own."""
    for event in events:
        if event.layer == "wire":
            return event.type
    return "comment" if frame.kind == "comment" else frame.event


class _RememberedRun:
    """Consecutive frames of one type, read only if a finding needs them."""

    __slots__ = ("_made", "frames", "kind", "last")

    def __init__(self, last: int, frames: Sequence[Frame], kind: str) -> None:
        self.last = last
        self.frames = frames
        self.kind = kind
        self._made: list[RememberedFrame] = []

    def newest_first(self) -> Sequence[RememberedFrame]:
        if not self._made:
            self._made = [
                RememberedFrame(self.last - back, frame.offset, self.kind, frame.data)
                for back, frame in enumerate(reversed(self.frames))
            ]
        return self._made


class RecentFrames:
    """The last frames: those that one finding shows, and those that say what the pieces are of.

    Few are shown, because a violation is noticed in the frame that commits it.
    """

    def __init__(self, last: Iterable[RememberedFrame | _RememberedRun] = ()) -> None:
        self._last = deque(last, maxlen=MOST_REMEMBERED)
        # What one frame breaks is often several findings, each with the same frames around it.
        self._around: dict[int, tuple[tuple[ContextLine, ...], tuple[str, ...]]] = {}
        self._snapshot: RecentFrames | None = None

    def snapshot(self) -> RecentFrames:
        """What is remembered now, for a finding that is made later."""
        if self._snapshot is None:
            self._snapshot = RecentFrames(self._last)
        return self._snapshot

    def keep(self, number: int, frame: Frame, events: Sequence[Event]) -> None:
        """Remembers a frame of the wire."""
        kind = wire_kind(frame, events)
        self._forget_surroundings()
        self._last.append(RememberedFrame(number, frame.offset, kind, frame.data))

    def remember(self, number: int, kind: str, text: str, offset: int | None = None) -> None:
        """Remembers something other than a frame: an event that a client reported, or the end."""
        self._forget_surroundings()
        self._last.append(RememberedFrame(number, offset, kind, text))

    def recall(self, last: int, frames: Sequence[Frame], kind: str) -> None:
        """Remembers the last frames of a run, which all have one type; `last` is a number."""
        self._forget_surroundings()
        if len(frames) >= MOST_REMEMBERED:
            self._last.clear()
        self._last.append(_RememberedRun(last, frames, kind))

    def _forget_surroundings(self) -> None:
        self._around.clear()
        self._snapshot = None

    def offset(self, number: int) -> int | None:
        """Byte offset of a frame, None for the request and the response head."""
        return next((each.offset for each in self._newest_first() if each.number == number), None)

    def around(self, number: int) -> tuple[ContextLine, ...]:
        """The frame and up to three before it."""
        return self.surroundings(number)[0]

    def surroundings(self, number: int) -> tuple[tuple[ContextLine, ...], tuple[str, ...]]:
        """As `around`, and the pieces of keys found there."""
        if number not in self._around:
            self._around[number] = self._new_surroundings(number)
        return self._around[number]

    def _new_surroundings(self, number: int) -> tuple[tuple[ContextLine, ...], tuple[str, ...]]:
        near: list[RememberedFrame] = []
        every = self._newest_first()
        for each in every:
            if each.number < number - CONTEXT:
                every = chain((each,), every)
                break
            if each.number <= number:
                near.insert(0, each)
        earlier = (each.text for each in islice(every, MOST_REMEMBERED))
        begins = self._oldest() <= 1 and number <= MOST_REMEMBERED
        texts, pieces = without_split_keys([each.text for each in near], earlier, begins=begins)
        lines = (
            ContextLine(each.number, each.kind, each.shown(text), at=each.number == number)
            for each, text in zip(near, texts, strict=True)
        )
        return tuple(lines), pieces

    def _oldest(self) -> int:
        """The number of the first frame that is remembered; 0 where there is none."""
        for each in self._last:
            if isinstance(each, _RememberedRun):
                return each.last + 1 - len(each.frames)
            return each.number
        return 0

    def _newest_first(self) -> Iterator[RememberedFrame]:
        for each in reversed(self._last):
            if isinstance(each, _RememberedRun):
                yield from each.newest_first()
            else:
                yield each


def with_request(finding: Finding, request: Request | None) -> Finding:
    """The finding with the request, if known, as the first line of its context."""
    if request is None:
        return finding
    body = "" if request.json is None else json.dumps(request.json, ensure_ascii=False)
    text = clip_text(f"{request.method} {request.path} {body}".rstrip())
    return replace(finding, context=(ContextLine(0, "http.request", text), *finding.context))


def make_finding(
    rule: Rule,
    violation: Violation,
    memory: RecentFrames,
    where: str,
    upstream: ReferencedEvent | None = None,
) -> Finding:
    """The finding for a violation; `where` names the exchange, `line` is filled in later."""
    context, pieces = memory.surroundings(violation.number)
    return Finding(
        rule=rule.id,
        level=rule.level,
        verdict=Verdict.FAIL,
        event=violation.number,
        line=None,
        byte=memory.offset(violation.number),
        slice=violation.slice,
        expected=tuple(without_pieces(each, pieces) for each in violation.expected),
        got=without_pieces(violation.got, pieces),
        after=without_pieces(violation.after, pieces),
        message=without_pieces(violation.message, pieces),
        says=rule.says,
        hint=rule.hint,
        fix=rule.fix,
        context=context,
        source=rule.source,
        id=finding_id(rule, where, violation.slice, violation),
        upstream=upstream,
        answers=(violation.answer,),
        about=violation.about.cleaned(lambda text: without_pieces(text, pieces)),
    )


def finding_id(rule: Rule, where: str, slice_: Mapping[str, object], violation: Violation) -> str:
    """A hash of what stays the same when the stream is recorded again.

    Indices count, ids do not; the types that were expected and came count, values do not. So does
    the number of a later answer.
    """
    places = [f"{k}={v}" if isinstance(v, int) else k for k, v in sorted(slice_.items())]
    places += [f"answer={violation.answer}"] if violation.answer > 1 else []
    types = [*violation.expected, violation.got] if rule.form.key in _ORDERED else []
    text = "\x1f".join([rule.id, where, *places, *types])
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
