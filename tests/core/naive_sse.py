"""A parser of event streams that is plainly right, and ways to cut a stream into chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from conformance.core.events import Frame
from conformance.core.sse import Parser

VECTORS = Path(__file__).parent.parent / "vectors" / "sse"
BOM = b"\xef\xbb\xbf"
UNBOUNDED = 1 << 40


class Outcome(NamedTuple):
    frames: list[Frame]
    retry: int | None
    last_event_id: str


class Line(NamedTuple):
    raw: bytes
    offset: int
    ended: bool


def naive_lines(wire: bytes) -> Iterator[Line]:
    at = 3 if wire.startswith(BOM) else 0
    begin = at
    while at < len(wire):
        size = 2 if wire[at : at + 2] == b"\r\n" else 1 if wire[at] in b"\r\n" else 0
        if size:
            yield Line(wire[begin:at], begin, ended=True)
            begin = at + size
        at += size or 1
    yield Line(wire[begin:], begin, ended=False)


class Naive:
    """The standard over a whole buffer, as plainly as it can be said."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.frames: list[Frame] = []
        self.retry: int | None = None
        self.last_event_id = self.id = ""
        self.skipping = False
        self.forget()

    def forget(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.data: list[str] = []
        self.event = ""
        self.named = False

    def note(self, reason: str, data: str, offset: int) -> None:
        self.frames.append(Frame("ignored", reason, data, "", offset))

    def take(self, line: Line) -> None:
        origin = self.lines[0][0] if self.lines else line.offset
        if self.skipping:
            self.skipping = not (line.ended and not line.raw)
        elif line.raw and line.offset + len(line.raw) - origin > self.limit:
            self.note("too-long", "", origin)
            self.forget()
            self.id = self.last_event_id
            self.skipping = True
        elif not line.ended:
            self.end(line, origin)
        elif line.raw:
            self.text(line.raw, line.offset)
        elif self.lines:
            self.blank(origin)

    def end(self, line: Line, origin: int) -> None:
        rest = [text for _, text in self.lines]
        rest += [line.raw.decode("utf-8", "replace")] if line.raw else []
        if rest:
            self.note("unfinished", "\n".join(rest), origin)

    def blank(self, origin: int) -> None:
        self.last_event_id = self.id
        if self.data:
            name, data = self.event or "message", "\n".join(self.data)
            self.frames.append(Frame("event", name, data, self.id, origin, self.named))
        else:
            self.note("no-data", "\n".join(text for _, text in self.lines), origin)
        self.forget()

    def text(self, raw: bytes, offset: int) -> None:
        text = raw.decode("utf-8", "replace")
        if text.encode() != raw:
            self.note("bad-utf8", text, offset)
        if text.startswith(":"):
            self.frames.append(Frame("comment", "", text[1:], "", offset))
            return
        self.lines.append((offset, text))
        field, value = text.split(":", 1) if ":" in text else (text, "")
        reason = self.field(field, value[1:] if value[:1] == " " else value)
        if reason:
            self.note(reason, text, offset)

    def field(self, field: str, value: str) -> str:
        if field == "data":
            self.data.append(value)
        elif field == "event":
            self.event, self.named = value, True
        elif field == "id":
            if "\0" in value:
                return "bad-id"
            self.id = value
        elif field == "retry":
            if not value or set(value) - set("0123456789") or int(value) >= 10**18:
                return "bad-retry"
            self.retry = int(value)
        else:
            return "unknown-field"
        return ""


def naive(wire: bytes, limit: int = UNBOUNDED) -> Outcome:
    parser = Naive(limit)
    for line in naive_lines(wire):
        parser.take(line)
    return Outcome(parser.frames, parser.retry, parser.last_event_id)


def parse(chunks: list[bytes], limit: int = UNBOUNDED) -> Outcome:
    parser = Parser(max_event_bytes=limit)
    frames = [frame for chunk in chunks for frame in parser.feed(chunk)]
    frames += parser.close()
    return Outcome(frames, parser.retry, parser.last_event_id)


def every(size: int, wire: bytes) -> list[bytes]:
    return [wire[at : at + size] for at in range(0, len(wire), size)]


def cut(wire: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(places), len(wire)]
    return [wire[a:b] for a, b in pairwise(bounds)]


def chunkings(wire: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, by threes, and in two at every place (every 61st of a long one)."""
    yield [wire]
    yield every(1, wire)
    yield every(3, wire)
    for place in range(0, len(wire), 1 if len(wire) <= 2048 else 61):
        yield [wire[:place], wire[place:]]


# Vectors
