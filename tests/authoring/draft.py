"""One cassette to be written: what was asked, what came back, and how it arrived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from conformance.cassette import Cassette, CassetteClock, Header
from conformance.cassette import write as write_cassette
from conformance.core.events import Chunk, Ending, Exchange, Request, Response
from tests.authoring.pieces import LINES, Fields, Piece, encoded

SUFFIX: Final = ".cassette.jsonl"
RECORDED: Final = "live-"  # how the names of recordings of live servers begin
EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
JSON_BODY: Final = "application/json"
HEAD_MS: Final = 184.5
END_MS: Final = 0.25
# Milliseconds between chunks, over and over: bursts, steady tokens, a pause.
GAPS_MS: Final = (0.5, 21.25, 18.5, 34.75, 12.0, 0.25, 96.5)

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A cassette with one exchange, and with those in `then`.

    `name` is its path below the folder, without suffix. Without a `path` it is what a command wrote
    to its standard output, which no request asked for. `asked` is the request's JSON, empty where
    it has none; `headers` stand beside those of every request, `answer_headers` beside the content
    type of the answer. `sizes` are the bytes of its chunks
    and `gaps` the milliseconds before them, over and over; without sizes every piece is a chunk.
    `seen` is what a client reported, `reports` the events that it declared it would, `chosen` what
    its user chose.
    `run` is what a run of the toolkit says of itself, where one is said to have recorded it.
    `base` names the draft that a mutant edits. Of a draft in `then` only the exchange counts.
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
    gaps: tuple[float, ...] = GAPS_MS
    end: Ending = "eof"
    seen: tuple[Mapping[str, Any], ...] | None = None
    reports: tuple[str, ...] = ()
    chosen: Mapping[str, Any] | None = None
    expect: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    method: str = "POST"
    headers: Headers = ()
    answer_headers: Headers = ()
    status: int = 200
    scenario: str = ""
    role: str = ""
    hop: str = ""
    after: int | None = None
    then: tuple[Draft, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

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
            extra=self._extra(),
        )
        turns = enumerate((self, *self.then), 1)
        exchanges = tuple(turn._exchange(number) for number, turn in turns)
        clock = CassetteClock(HEAD_MS, END_MS)
        return Cassette(header, exchanges, {each.number: clock for each in exchanges})

    def _extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {"base": self.base} if self.base else {}
        if self.run:
            extra["run"] = dict(self.run)
        if self.reports:
            extra["implementation"] = {"name": "client", "events": list(self.reports)}
        return extra

    def _exchange(self, number: int) -> Exchange:
        return Exchange(
            number=number,
            request=self._request() if self.path else None,
            response=Response(
                self.status, "1.1", (("content-type", self.content_type), *self.answer_headers)
            ),
            chunks=tuple(self._chunks()),
            end=self.end,
            dialect=self.dialect,
            scenario=self.scenario,
            role=self.role,
            hop=self.hop,
            after=self.after,
            seen=self.seen,
            user_choices=self.chosen,
        )

    def _request(self) -> Request:
        accept = "text/event-stream" if self.asked.get("stream") else JSON_BODY
        kind = (("content-type", JSON_BODY),) if self.asked else ()
        headers = (*kind, ("accept", accept), *self.headers)
        return Request(self.method, self.path, headers, self.asked or None)

    def _chunks(self) -> Iterator[Chunk]:
        gaps = cycle(self.gaps)
        if not self.sizes:
            yield from (Chunk(encoded(piece), next(gaps)) for piece in self.pieces)
            return
        body, start = self.body(), 0
        for size in cycle(self.sizes):
            if start >= len(body):
                return
            yield Chunk(body[start : start + size], next(gaps))
            start += size


def stream_draft(
    topic: str, asked: Fields, pieces: Iterable[Piece], *, dialect: str, **facts: Any
) -> Draft:
    """A stream of the dialect; the first word of the topic names what it came from."""
    return Draft(
        name=f"{dialect}/{topic}",
        dialect=dialect,
        asked=asked,
        pieces=tuple(pieces),
        target={"name": topic.partition("/")[0]},
        **{"profile": "strict", **facts},
    )


def output_draft(topic: str, pieces: Iterable[Piece], **facts: Any) -> Draft:
    """Lines that a command wrote to its standard output."""
    return stream_draft(topic, {}, pieces, **{"path": "", "content_type": LINES, **facts})


def write(draft: Draft, folder: Path) -> Path:
    """Writes the cassette, sealed, below the folder and returns its path."""
    path = folder / f"{draft.name}{SUFFIX}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_cassette(path, draft.cassette(), seal=True)
    return path
