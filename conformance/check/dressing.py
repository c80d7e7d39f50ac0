"""Violations dressed as findings: where in the bytes, what stood around, and an id that lasts."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from conformance.check.result import ContextLine, Finding
from conformance.events import Event, Frame
from conformance.rules.model import Answer, Grammar, Never, Rule
from conformance.rules.monitors.base import Violation
from conformance.rules.verdicts import Verdict

# A marker or a leak is noticed at most 256 characters late, hence at most that many frames.
REMEMBERED: Final = 512
CONTEXT: Final = 3
CLIP: Final = 160


Seen = tuple[int, int | None, str, str]  # number, offset, type, clipped text


class Memory:
    """The last frames as a reader will want to see them; bounded however long they are.

    A whole run of frames counts as one entry, spelled out only when somebody looks.
    """

    def __init__(self) -> None:
        self._entries: deque[tuple[int, Callable[[], list[Seen]]]] = deque()
        self._count = 0

    def keep(self, number: int, frame: Frame, events: list[Event]) -> None:
        """Remembers a frame of the wire."""
        wire = next((event.type for event in events if event.layer == "wire"), None)
        kind = wire or {"comment": "comment", "ignored": frame.event}.get(frame.kind, frame.event)
        self.tell(number, kind, frame.data, frame.offset)

    def tell(self, number: int, kind: str, text: str, offset: int | None = None) -> None:
        """Remembers what is no frame: an event that a client reported, or the end."""
        seen = (number, offset, kind, text[:CLIP])
        self.recall(1, lambda: [seen])

    def recall(self, count: int, spell: Callable[[], list[Seen]]) -> None:
        """Remembers `count` frames that `spell` gives when they are asked for."""
        self._entries.append((count, spell))
        self._count += count
        while self._count - self._entries[0][0] >= REMEMBERED:
            self._count -= self._entries.popleft()[0]

    def _frames(self) -> Iterator[Seen]:
        seen = (each for _, spell in self._entries for each in spell())
        yield from islice(seen, max(0, self._count - REMEMBERED), None)

    def offset(self, number: int) -> int | None:
        """Byte offset of a frame, None for the request and the response head."""
        return next((offset for n, offset, _, _ in self._frames() if n == number), None)

    def around(self, number: int) -> tuple[ContextLine, ...]:
        """The frame and up to three before it."""
        near = (f for f in self._frames() if number - CONTEXT <= f[0] <= number)
        return tuple(ContextLine(n, kind, text, at=n == number) for n, _, kind, text in near)


def dress(rule: Rule, violation: Violation, memory: Memory, where: str) -> Finding:
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
        context=memory.around(violation.number),
        source=rule.source,
        id=identity(rule, where, violation.slice, violation),
    )


def identity(rule: Rule, where: str, slice_: Mapping[str, object], violation: Violation) -> str:
    """A hash of what stays the same when the stream is recorded again.

    Indices count, ids do not; the types that were expected and came count, values do not.
    """
    places = [f"{k}={v}" if isinstance(v, int) else k for k, v in sorted(slice_.items())]
    ordered = isinstance(rule.form, Grammar | Never | Answer)
    types = [*violation.expected, violation.got] if ordered else []
    text = "\x1f".join([rule.id, where, *places, *types])
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
