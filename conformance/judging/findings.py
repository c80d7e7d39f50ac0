"""Violations dressed as findings: where in the bytes, what stood around, and an id that lasts."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.core.events import Event, Frame, Request
from conformance.core.excerpts import MARGIN, both_ends, outer_parts
from conformance.judging.result import ContextLine, EventBeside, Finding
from conformance.rules.forms.base import Violation
from conformance.rules.forms.grammar import Grammar
from conformance.rules.forms.never import Never
from conformance.rules.forms.response import Answer
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

CONTEXT: Final = 3
CLIP: Final = 156  # characters of a frame that a finding shows
_HEAD: Final = 56  # of them its first; what tells one delta from the next stands here or at the end
_TAIL: Final = CLIP - _HEAD - 1


def clip_text(text: str) -> str:
    """A long text's beginning and end, without secrets."""
    return both_ends(text, _HEAD, _TAIL)


class _RememberedFrame:
    """A frame, with as much of its text as a finding may show; redacted once for all findings."""

    __slots__ = ("_shown", "_text", "kind", "number", "offset")

    def __init__(self, number: int, offset: int | None, kind: str, text: str) -> None:
        self.number = number
        self.offset = offset
        self.kind = kind
        self._text = text if len(text) <= MARGIN else outer_parts(text, _HEAD, _TAIL)
        self._shown: str | None = None

    def shown(self) -> str:
        if self._shown is None:
            self._shown = clip_text(self._text)
        return self._shown


class RecentFrames:
    """The last frames as a reader will want to see them: those that one finding shows.

    That is enough, because a violation is noticed in the frame that commits it.
    """

    def __init__(self) -> None:
        self._last: deque[_RememberedFrame] = deque(maxlen=CONTEXT + 1)

    def keep(self, number: int, frame: Frame, events: Sequence[Event]) -> None:
        """Remembers a frame of the wire."""
        kind = "comment" if frame.kind == "comment" else frame.event
        for event in events:
            if event.layer == "wire":
                kind = event.type
                break
        self._last.append(_RememberedFrame(number, frame.offset, kind, frame.data))

    def remember(self, number: int, kind: str, text: str, offset: int | None = None) -> None:
        """Remembers what is no frame: an event that a client reported, or the end."""
        self._last.append(_RememberedFrame(number, offset, kind, text))

    def recall(self, first: int, frames: Iterable[Frame], kind: str) -> None:
        """Remembers the last frames of a run, which all have one type, from number `first` on."""
        for number, frame in enumerate(frames, first):
            self.remember(number, kind, frame.data, frame.offset)

    def offset(self, number: int) -> int | None:
        """Byte offset of a frame, None for the request and the response head."""
        return next((seen.offset for seen in self._last if seen.number == number), None)

    def around(self, number: int) -> tuple[ContextLine, ...]:
        """The frame and up to three before it."""
        near = [seen for seen in self._last if number - CONTEXT <= seen.number <= number]
        return tuple(
            ContextLine(seen.number, seen.kind, seen.shown(), at=seen.number == number)
            for seen in near
        )


def with_request(finding: Finding, request: Request | None) -> Finding:
    """The finding with what was asked as the first line of its context, where that is known."""
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
    upstream: EventBeside | None = None,
) -> Finding:
    """The finding for a violation; `where` names the exchange, `line` is filled in later."""
    return Finding(
        rule=rule.id,
        level=rule.level,
        verdict=Verdict.FAIL,
        event=violation.number,
        line=None,
        byte=memory.offset(violation.number),
        slice=violation.slice,
        expected=violation.expected,
        got=violation.got,
        after=violation.after,
        message=violation.message,
        says=rule.says,
        hint=rule.hint,
        fix=rule.fix,
        context=memory.around(violation.number),
        source=rule.source,
        id=finding_id(rule, where, violation.slice, violation),
        upstream=upstream,
        answers=(violation.answer,),
    )


def finding_id(rule: Rule, where: str, slice_: Mapping[str, object], violation: Violation) -> str:
    """A hash of what stays the same when the stream is recorded again.

    Indices count, ids do not; the types that were expected and came count, values do not. So does
    the number of a later answer.
    """
    places = [f"{k}={v}" if isinstance(v, int) else k for k, v in sorted(slice_.items())]
    places += [f"answer={violation.answer}"] if violation.answer > 1 else []
    ordered = isinstance(rule.form, Grammar | Never | Answer)
    types = [*violation.expected, violation.got] if ordered else []
    text = "\x1f".join([rule.id, where, *places, *types])
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
