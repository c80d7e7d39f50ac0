"""The content of one side of two hops, part by part, each with the numbers of its events.

A part is one block of thinking, one part of a summary, one block of text, or one call of a tool.
Several calls of a model form one side, because an application shows the result of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from msgspec import Struct, field

from conformance.core.events import Event
from conformance.dialects.blocks import NOTICE_ROLES
from conformance.judging.transcript import Transcript

PartKind = Literal["thinking", "text", "tool"]


class EventPlace(Struct, frozen=True):
    """An event of one side: the answer that holds it, from 0, and its number there."""

    answer: int
    number: int


class SidePart(Struct):
    """One part while it is read. `end` is None where nothing ended it."""

    kind: PartKind
    start: EventPlace
    channel: str = ""
    pieces: list[tuple[EventPlace, str]] = field(default_factory=list)
    end: EventPlace | None = None
    call: tuple[str, str] = ("", "")  # name, and arguments as they were written
    stated: str = ""  # arguments as they are when the call is whole
    written: list[str] = field(default_factory=list)
    is_hosted: bool = False  # the sender of the call carries it out itself

    @property
    def text(self) -> str:
        return "".join(piece for _, piece in self.pieces)

    @property
    def says_something(self) -> bool:
        return self.kind == "tool" or bool(self.pieces)

    @property
    def first(self) -> EventPlace:
        """Where its content begins."""
        return next((place for place, piece in self.pieces if piece.strip()), self.start)


class OpaqueValue(Struct, frozen=True):
    """Data that is never displayed: its kind, whose it is (answer and block), and where."""

    kind: str
    owner: tuple[int, Any]
    data: str
    place: EventPlace
    in_part: bool  # its block had begun


class SideContent(Struct):
    """One side: its parts in the order in which they began, and its opaque data."""

    parts: list[SidePart] = field(default_factory=list)
    opaque: list[OpaqueValue] = field(default_factory=list)
    errors: list[EventPlace] = field(default_factory=list)
    last: EventPlace = EventPlace(0, 0)

    def of(self, kind: PartKind) -> list[SidePart]:
        """Its parts of one kind that say something."""
        return [each for each in self.parts if each.kind == kind and each.says_something]

    @property
    def spoken(self) -> list[SidePart]:
        """Its parts of any kind that say something."""
        return [each for each in self.parts if each.says_something]

    @property
    def thoughts(self) -> int:
        """How many parts of thinking there are, those without any text too."""
        sealed = {each.owner for each in self.opaque if not each.in_part}
        return sum(each.kind == "thinking" for each in self.parts) + len(sealed)

    @property
    def order(self) -> list[tuple[PartKind, EventPlace]]:
        """Kinds of content in the order in which they came, each where it begins."""
        came = [(each.start, each.kind) for each in self.of("tool")]
        for part in self.parts:
            came += ((place, part.kind) for place, piece in part.pieces if piece.strip())
        came.sort(key=lambda each: (each[0].answer, each[0].number))
        return [next(run) for _, run in groupby(((k, p) for p, k in came), key=itemgetter(0))]

    def place_of(self, parts: Iterable[SidePart], at: int) -> EventPlace:
        """The event that holds character `at` of the parts' joined texts; else the last one."""
        for place, piece in (each for part in parts for each in part.pieces):
            if at < len(piece):
                return place
            at -= len(piece)
        return self.last


def read_content(answers: Sequence[Transcript]) -> SideContent:
    """The content of one side's answers, which must have kept their semantic events."""
    content = SideContent()
    for number, answer in enumerate(answers):
        _AnswerParts(content, number).take(answer.events)
        content.last = EventPlace(number, answer.last)
    content.parts.sort(key=lambda part: (part.first.answer, part.first.number))
    return content


class _AnswerParts:
    """The parts of one answer while its events go by."""

    def __init__(self, content: SideContent, answer: int) -> None:
        self._content = content
        self._answer = answer
        self._blocks: dict[Any, list[SidePart]] = {}
        self._by_key: dict[Any, SidePart] = {}

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            place = EventPlace(self._answer, event.number)
            kind, _, what = event.type.partition(".")
            if event.data.get("phase") in NOTICE_ROLES:
                continue  # the application itself marks it as not from a model
            if kind in ("thinking", "text"):
                self._take_block("thinking" if kind == "thinking" else "text", what, event, place)
            elif event.type == "refusal.delta":
                self._add(("refusal",), "text", "", event.data["text"], place)
            elif kind == "tool":
                self._take_call(what, event, place)
            elif kind == "error":
                self._content.errors.append(place)

    def _take_block(self, kind: PartKind, what: str, event: Event, place: EventPlace) -> None:
        data = event.data
        block = (data.get("choice"), data.get("block"))
        channel = str(data.get("channel") or "")
        if what == "start":
            self._begin(block, kind, channel, place)
        elif what == "delta":
            self._add((*block, channel, data.get("part")), kind, channel, data["text"], place)
        elif what == "part":
            self._part((*block, "summary", data.get("part")), "thinking", "summary", place)
        elif what == "end":
            self._end(block, place)
        elif what == "opaque":
            self._seal(data, block, place)

    def _seal(self, data: Mapping[str, Any], block: Any, place: EventPlace) -> None:
        known = "block" in data and bool(self._blocks.get(block))
        owner = (self._answer, data.get("block", place.number))
        kind, value = str(data.get("kind")), str(data.get("data"))
        self._content.opaque.append(OpaqueValue(kind, owner, value, place, in_part=known))

    def _begin(self, block: Any, kind: PartKind, channel: str, place: EventPlace) -> SidePart:
        part = SidePart(kind, place, channel)
        self._content.parts.append(part)
        self._blocks.setdefault(block, []).append(part)
        return part

    def _end(self, block: Any, place: EventPlace) -> None:
        for part in self._blocks.get(block, ()):
            part.end = part.end or place

    def _part(self, key: Any, kind: PartKind, channel: str, place: EventPlace) -> SidePart:
        """The part of that key; the first of a block is the one that began with the block."""
        if (known := self._by_key.get(key)) is not None:
            return known
        block = key[:2]
        begun = self._blocks.get(block, [])
        taken = any(each is part for part in begun for each in self._by_key.values())
        if begun and not taken:
            part = begun[0]
        else:
            self._end(block, place)  # parts of one block come one after another
            part = self._begin(block, kind, channel, place)
        part.channel = channel
        self._by_key[key] = part
        return part

    def _add(self, key: Any, kind: PartKind, channel: str, text: str, place: EventPlace) -> None:
        self._part(key, kind, channel, place).pieces.append((place, text))

    def _take_call(self, what: str, event: Event, place: EventPlace) -> None:
        key = ("tool", event.data.get("choice"), event.data.get("index"))
        if what == "start":
            self._begin(key, "tool", "", place)
        elif what == "delta":
            if self._blocks.get(key):
                self._blocks[key][-1].written.append(str(event.data.get("arguments") or ""))
        elif what == "end":
            part = self._blocks.get(key, [None])[-1] or self._begin(key, "tool", "", place)
            part.end = place
            part.stated = str(event.data.get("arguments") or "")
            part.call = (str(event.data.get("name")), "".join(part.written) or part.stated)
            part.is_hosted = bool(event.data.get("hosted"))
