"""Short streams as people have them: drawn from the shapes of shipped recordings, or captured ones.

A drawn stream takes the frames of one shipped recording. Its runs of text deltas are made longer or
shorter, until the stream has as many frames as it shall have; texts, ids and times are drawn, and
whatever states a text again states the drawn one. What was true of the recording stays true: a
drawn stream conforms to the profile of its recording. A seed gives the same streams every time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from conformance.cassette import open_recording
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange, Request, Response
from conformance.core.framing import exchange_frames
from conformance.dialects.recognition import recognised_dialect
from tests.benchmarks.corpora import Chunks
from tests.benchmarks.stream_templates import (
    LEAST_FRAMES,
    Place,
    Template,
    TemplateFrame,
    templates,
    texts_of,
)

DIALECTS: Final = ("openai.chat", "openai.responses", "anthropic.messages", "ollama.chat")
# Frames of a stream; how many streams are drawn of each dialect; and which share of all streams
# such ones have, so that a stream has 45 frames on average.
LENGTHS: Final[Mapping[str, tuple[int, int]]] = {
    "<20": (LEAST_FRAMES, 19),
    "20-100": (20, 100),
    "100-500": (101, 500),
    ">500": (501, 1200),
}
STREAMS: Final[Mapping[str, int]] = {"<20": 24, "20-100": 24, "100-500": 8, ">500": 4}
SHARES: Final[Mapping[str, float]] = {"<20": 0.5, "20-100": 0.45, "100-500": 0.04, ">500": 0.01}

# Of a hundred deltas of captured streams, 5 to 8 hold something that JSON escapes, 1 or 2 others
# something that is not ASCII.
WORDS: Final = (
    *(" the", " of", " and", " to", " is", " that", " so", " we", " a", " in", "ing", "ed", "s"),
    *(" number", " answer", " because", " therefore", " step", " value", " must", " not", " check"),
    *(" 4", "12", ",", ".", ":", " (", ")", " -", " =", "'s", " x", "?", " **", "**", " I", " it"),
)
ESCAPED: Final = (' "', '"', ".\n", "\n", "\\(", "\\)", '",', "\t", " \\frac", '"}\n')
FOREIGN: Final = ("\u2019", " na\u00efve", "\u8c46\u8150", " \u2014", " \U0001f600", "\u0434\u0430")
# A value, not the key call_id.
ID: Final = re.compile(
    r'(?<=")(resp|rs|msg|fc|call|toolu|chatcmpl)([-_])[A-Za-z0-9_-]+(?="(?!\s*:))'
)
ID_LENGTHS: Final = {"chatcmpl": 29, "call": 24, "toolu": 24}  # all others as OpenAI's: 48
ALNUM: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEAST_STATED: Final = 4  # characters of a text that is looked for where it is stated again


@dataclass(frozen=True, slots=True)
class RealStream:
    """The bytes of one answer as they came, and what is known of it."""

    dialect: str
    profile: str | None
    chunks: tuple[bytes, ...]
    frames: int
    request: Request | None = None
    response: Response | None = None

    @property
    def length(self) -> str:
        """The class of its length."""
        return next((n for n, (_, most) in LENGTHS.items() if self.frames <= most), ">500")


def _delta(source: Random, length: int) -> str:
    """A text of about that many characters."""
    text = ""
    while not text or len(text) < length:
        drawn = source.random()
        some = ESCAPED if drawn < 0.06 else FOREIGN if drawn < 0.075 else WORDS
        text += source.choice(some)
    return text


def _replaced(value: Any, before: str, after: str) -> Any:
    """The value with another text wherever it has that one: a delta may say it twice."""
    if isinstance(value, dict):
        return {key: _replaced(each, before, after) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, before, after) for each in value]
    return after if value == before else value


class _Drawing:
    """One stream being drawn."""

    def __init__(self, template: Template, frames: int, source: Random) -> None:
        self._template, self._source = template, source
        self._sizes = self._run_sizes(frames)
        self._was: dict[Place, str] = {}  # texts of the template and as drawn, so far
        self._drawn: dict[Place, str] = {}
        # An answer repeats ids of its request.
        request = template.exchange.request
        asked = json.dumps(request.json) if request else ""
        self._ids = {found[0]: found[0] for found in ID.finditer(asked)}
        self._number = 0

    def _run_sizes(self, frames: int) -> list[int]:
        """As many frames as wanted, shared among the runs by their lengths."""
        runs = self._template.runs
        weights = [len(run) if len(run) > 1 else 0 for run in runs]
        spare = frames - len(runs)
        sizes = [1 + spare * weight // sum(weights) for weight in weights]
        sizes[weights.index(max(weights))] += frames - sum(sizes)
        return sizes

    def frames(self) -> list[bytes]:
        return [
            frame
            for run, size in zip(self._template.runs, self._sizes, strict=True)
            for frame in self._run(run, size)
        ]

    def _run(self, run: tuple[TemplateFrame, ...], size: int) -> Iterator[bytes]:
        place = run[0].place
        if len(run) == 1 or place is None:
            yield self._fixed(run[0])
            return
        texts = [text for frame in run for _, text in self._of(frame.payload)]
        self._was[place] = self._was.get(place, "") + "".join(texts)
        for number in range(size):
            frame = run[number % len(run)]
            text = _delta(self._source, self._text_length(texts))
            self._drawn[place] = self._drawn.get(place, "") + text
            yield self._written(frame, self._with_text(frame.payload, text))

    def _text_length(self, texts: Sequence[str]) -> int:
        """Of a recorded delta; those of Messages are written by hand, captured ones are longer."""
        if self._template.dialect == "anthropic.messages":
            return self._source.randint(4, 84)
        return len(self._source.choice(texts))

    def _of(self, payload: Any) -> list[tuple[Place, str]]:
        return [(p, held[key]) for p, held, key in texts_of(self._template.dialect, payload)]

    def _with_text(self, payload: Any, text: str) -> Any:
        copy = json.loads(json.dumps(payload))
        ((_, held, key),) = texts_of(self._template.dialect, copy)
        held.update(_replaced(held, held[key], text))
        return copy

    def _fixed(self, frame: TemplateFrame) -> bytes:
        if frame.payload is not None:
            for place, text in self._of(frame.payload):
                self._was[place] = self._was.get(place, "") + text
                self._drawn[place] = self._drawn.get(place, "") + text
        return self._written(frame, self._restated(frame.payload))

    def _restated(self, value: Any) -> Any:
        """The value with the drawn texts where it states those of the template."""
        if isinstance(value, dict):
            return {key: self._restated(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._restated(each) for each in value]
        if isinstance(value, str) and len(value) >= LEAST_STATED:
            stated = (self._drawn[place] for place, was in self._was.items() if was == value)
            return next(stated, value)
        return value

    def _written(self, frame: TemplateFrame, payload: Any) -> bytes:
        if isinstance(payload, dict):
            if "sequence_number" in payload:
                payload = {**payload, "sequence_number": self._number}
            if "created_at" in payload:
                millisecond = self._number * 21
                at = (
                    f"2026-11-20T10:{millisecond // 60_000:02}:{millisecond % 60_000 / 1000:06.3f}Z"
                )
                payload = {**payload, "created_at": at}
            self._number += 1
        return ID.sub(self._drawn_id, frame.encoded(payload)).encode()

    def _drawn_id(self, found: re.Match[str]) -> str:
        kind, mark = found[1], found[2]
        if found[0] not in self._ids:
            drawn = "".join(self._source.choices(ALNUM, k=ID_LENGTHS.get(kind, 48)))
            self._ids[found[0]] = f"{kind}{mark}{drawn}"
        return self._ids[found[0]]


def drawn_chunks(frames: Sequence[bytes], source: Random) -> Chunks:
    """As networks bring them: mostly a frame at a time, often several, sometimes cut anywhere."""
    way, chunks = source.random(), list[bytes]()
    if way < 0.6:
        return list(frames)
    if way < 0.85:
        at = 0
        while at < len(frames):
            several = source.randint(1, 6)
            chunks.append(b"".join(frames[at : at + several]))
            at += several
        return chunks
    stream, at = b"".join(frames), 0
    while at < len(stream):
        size = source.randint(64, 1400)
        chunks.append(stream[at : at + size])
        at += size
    return chunks


def drawn_stream(dialect: str, length: str, source: Random) -> RealStream:
    """A stream of a dialect and a class of lengths."""
    low, high = LENGTHS[length]
    growing = [each for each in templates(dialect) if each.grows]
    low = max(low, min(each.least for each in growing))
    frames = round(low * (high / low) ** source.random())
    template = source.choice([each for each in growing if each.least <= frames])
    made = _Drawing(template, frames, source).frames()
    exchange = template.exchange
    chunks = tuple(drawn_chunks(made, source))
    heads = exchange.request, exchange.response
    return RealStream(dialect, template.profile, chunks, len(made), *heads)


@cache
def drawn(dialect: str, length: str) -> tuple[RealStream, ...]:
    """All streams of a dialect and a class; the same ones every time."""
    source = Random(f"{dialect} {length}")
    return tuple(drawn_stream(dialect, length, source) for _ in range(STREAMS[length]))


def captured(folder: Path) -> Iterator[RealStream]:
    """The event streams and lines that were captured, chunked as drawn ones are."""
    source = Random(5)
    for path in sorted(folder.rglob("*")):
        try:
            exchanges = open_recording(path).exchanges if path.is_file() else ()
        except ConformanceError:
            continue  # no recording, or of a kind that is not read
        for exchange in exchanges:
            dialect, frames = recognised_dialect(exchange), _cut_at_frames(exchange)
            if dialect in DIALECTS and len(frames) > 1:
                chunks = tuple(drawn_chunks(frames, source))
                yield RealStream(dialect, None, chunks, len(frames))


def _cut_at_frames(exchange: Exchange) -> list[bytes]:
    starts = [0, *(frame.offset for frame, _ in exchange_frames(exchange))][2:]
    body = exchange.body
    return [body[a:b] for a, b in zip([0, *starts], [*starts, len(body)], strict=True)]
