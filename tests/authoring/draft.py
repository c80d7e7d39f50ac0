"""One cassette to be written: what was asked, what came back, and how it arrived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from conformance.cassette import Cassette, Clock, Header
from conformance.cassette import write as write_cassette
from conformance.events import Chunk, Ending, Exchange, Request, Response
from tests.authoring.pieces import Piece, encoded

SUFFIX: Final = ".cassette.jsonl"
EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
JSON_BODY: Final = "application/json"
HEAD_MS: Final = 184.5
END_MS: Final = 0.25
# Milliseconds between chunks, over and over: bursts, steady tokens, a pause.
GAPS_MS: Final = (0.5, 21.25, 18.5, 34.75, 12.0, 0.25, 96.5)


@dataclass(frozen=True, slots=True)
class Draft:
    """A cassette with one exchange.

    `name` is its path below the folder, without suffix. `sizes` are the bytes of its chunks, over
    and over; without them every piece is a chunk. `base` names the draft that a mutant edits.
    """

    name: str
    dialect: str
    profile: str
    path: str
    asked: Mapping[str, Any]
    pieces: tuple[Piece, ...]
    target: Mapping[str, str]
    content_type: str = EVENT_STREAM
    sizes: tuple[int, ...] = ()
    end: Ending = "eof"
    seen: tuple[Mapping[str, Any], ...] | None = None
    expect: Mapping[str, str] = field(default_factory=dict)
    base: str = ""

    def body(self) -> bytes:
        return b"".join(map(encoded, self.pieces))

    def cassette(self) -> Cassette:
        """The cassette as a value; it is sealed when it is written."""
        header = Header(
            origin="synthetic",
            dialect=self.dialect,
            profile=self.profile,
            target=self.target,
            licence="Apache-2.0",
            expect=self.expect,
            extra={"base": self.base} if self.base else {},
        )
        return Cassette(header, (self._exchange(),), {1: Clock(HEAD_MS, END_MS)})

    def _exchange(self) -> Exchange:
        accept = "text/event-stream" if self.asked.get("stream") else JSON_BODY
        headers = (("content-type", JSON_BODY), ("accept", accept))
        return Exchange(
            request=Request("POST", self.path, headers, self.asked),
            response=Response(200, "1.1", (("content-type", self.content_type),)),
            chunks=tuple(self._chunks()),
            end=self.end,
            dialect=self.dialect,
            seen=self.seen,
        )

    def _chunks(self) -> Iterator[Chunk]:
        gaps = cycle(GAPS_MS)
        if not self.sizes:
            yield from (Chunk(encoded(piece), next(gaps)) for piece in self.pieces)
            return
        body, start = self.body(), 0
        for size in cycle(self.sizes):
            if start >= len(body):
                return
            yield Chunk(body[start : start + size], next(gaps))
            start += size


def write(draft: Draft, folder: Path) -> Path:
    """Writes the cassette, sealed, below the folder and returns its path."""
    path = folder / f"{draft.name}{SUFFIX}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_cassette(path, draft.cassette(), seal=True)
    return path
