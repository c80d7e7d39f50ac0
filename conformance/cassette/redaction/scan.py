"""Looks for secrets that were left in a file, and shows their lines.

Rule 1: what redaction would replace is a secret; stand-ins and opaque reasoning data are none.
Rule 2: what the user named as a key of their own is one, too, however it is spelled.
Rule 3: a body of a cassette is looked at as a whole, so a secret in two chunks, or spelled out over
several events, is found; every other file, and the other lines of a cassette, line by line.
Rule 4: lines are looked at together, a blank line between each two, so that none is a part of
another; where that shows something, by halves, down to the line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.cassette.connections import carried_layouts, server_parts
from conformance.cassette.positions import cassette_layout
from conformance.cassette.read import exchanges
from conformance.cassette.records import Record, parse_record
from conformance.cassette.redaction.deltas import Deltas
from conformance.cassette.redaction.known_secrets import KnownSecrets
from conformance.cassette.redaction.message_deltas import MessageDeltas
from conformance.cassette.redaction.opaque import find_secrets
from conformance.cassette.redaction.placeholders import Placeholders, is_stand_in
from conformance.cassette.redaction.redact import CREDENTIAL_HEADERS, REDACTED
from conformance.cassette.source import RawLine, plain_name, read_lines
from conformance.core.binary import event_text, message_length, with_clean_frame
from conformance.core.errors import Place
from conformance.core.events import Request, Response
from conformance.core.framing import Framing, framing_of

_PEEK: Final = 8192
_LINES_TOGETHER: Final = 4096
_BYTES_TOGETHER: Final = 1 << 16
_SAME_RUN: Final = 3  # bytes that are alike by chance


class Sighting(Struct, frozen=True):
    """A secret: where, by which redaction rule, and how long; never what it is."""

    place: Place
    rule: str
    hint: str


def scan(path: Path | str, keys: Iterable[str] = ()) -> Iterator[Sighting]:
    """Every secret of a file, in its order, `keys` among them. Raises CassetteError.

    A binary file has none.
    """
    where = Path(path)
    known = KnownSecrets(Placeholders())
    for key in keys:
        known.learn_key(key)
    if plain_name(where).endswith(".cassette.jsonl"):
        yield from sorted(_in_cassette(where, known), key=lambda one: one.place.line or 0)
    elif not _is_binary(where):
        for lines in _line_groups(read_lines(where)):
            yield from _in_lines(where, lines, known)


def _in_cassette(path: Path, known: KnownSecrets) -> Iterator[Sighting]:
    for lines in _line_groups(read_lines(path)):
        other_lines = [line for line in lines if not line.ended or line.number == 1]
        for line in lines:
            if line.ended and line.number > 1:
                record = parse_record(str(path), line)
                if record.side == "client" or _DATA.isdisjoint(record.kinds()):
                    other_lines.append(line)
                    yield from _in_headers(path, line, record)
        yield from _in_lines(path, other_lines, known)
    for exchange in exchanges(path):
        parts = list(server_parts(exchange))
        layouts = None
        for at, part in enumerate(parts):
            body = part.exchange.body
            framing = framing_of(part.exchange)
            is_binary = framing == "binary"
            spans = list(_in_messages(body, known) if is_binary else _in_body(body, framing, known))
            if spans and layouts is None:
                layouts = carried_layouts(parts, partial(cassette_layout, path))
            for start, size, rule in spans:
                assert layouts is not None
                yield _sighting_at(path, layouts[at].line(start), rule, size)


_DATA: Final = {"text", "hex", "message"}


def _line_groups(lines: Iterable[RawLine]) -> Iterator[list[RawLine]]:
    """Lines that are looked at together: many, or one that is long."""
    held: list[RawLine] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line.data)
        if size >= _BYTES_TOGETHER or len(held) >= _LINES_TOGETHER:
            yield held
            held, size = [], 0
    if held:
        yield held


def _in_lines(path: Path, lines: Sequence[RawLine], known: KnownSecrets) -> Iterator[Sighting]:
    """Secrets of single lines, in their order. Those are looked at that hold one in all of them."""
    if len(lines) > 1:
        touched = _touched_lines(lines, known)
        numbers = range(len(lines) if touched else 0)
        for is_touched, places in groupby(numbers, touched.__contains__):
            some = [lines[at] for at in places]
            for each in [[one] for one in some] if is_touched else [some]:
                yield from _in_lines(path, each, known)
        return
    for line in lines:
        for rule, size in _line_secrets(line.data, known):
            yield _sighting_at(path, line.number, rule, size)


def _touched_lines(lines: Sequence[RawLine], known: KnownSecrets) -> set[int]:
    """Which of the lines hold a secret, or a part of one, where all are looked at as one text."""
    joined = b"\n\n".join(line.data for line in lines)
    own = known.spots(joined) if known else []
    ends = list(accumulate(len(line.data) + 2 for line in lines))
    return {
        number
        for start, stop, _ in (*find_secrets(joined), *own)
        for number in range(bisect_right(ends, start), bisect_right(ends, max(start, stop - 1)) + 1)
        if number < len(lines)
    }


def _in_headers(path: Path, line: RawLine, record: Record) -> Iterator[Sighting]:
    for message in (record.request, record.response):
        if isinstance(message, Request | Response):
            for name, value in message.headers:
                if name.lower() in CREDENTIAL_HEADERS and value != REDACTED:
                    yield _sighting_at(path, line.number, f"header {name.lower()}", len(value))


def _in_body(body: bytes, framing: Framing, known: KnownSecrets) -> Iterator[tuple[int, int, str]]:
    """As `_spans`, and secrets over several events: where redaction would put a stand-in."""
    found: list[tuple[int, int, str]] = []
    at = 0

    def look(events: bytes) -> bytes:
        nonlocal at
        found.extend((at + start, size, rule) for start, size, rule in _secret_spots(events, known))
        at += len(events)
        return events

    deltas = Deltas(_blank_secret, look, lambda _: None, framing, known=known or None)
    marked = deltas.feed(body) + deltas.close()
    if marked != body:
        ends = [*accumulate((start + size for start, size, _ in sorted(found)), max)]
        starts = sorted(start for start, _, _ in found)
        runs = _changed_runs(body, marked)
        apart = [run for run in runs if not _is_found(run, starts, ends)]
        found += [(start, size, "over several events") for start, size in apart]
    yield from sorted(found)


def _in_messages(body: bytes, known: KnownSecrets) -> Iterator[tuple[int, int, str]]:
    """As `_in_body`, of binary messages: each stands for all of its bytes."""
    deltas = MessageDeltas(
        Deltas(
            *(_blank_secret, lambda events: events, lambda _: None, "lines"),
            known=known or None,
        ),
        lambda text: text,
    )
    marked = deltas.feed(body) + deltas.close()
    at = 0
    while at < len(body):
        stop = at + (message_length(body, at) or len(body))
        message, other = body[at:stop], marked[at:stop]
        is_whole = stop <= len(body)
        text = event_text(message) if is_whole else message
        for part in (*(_frame_texts(message) if is_whole else ()), text):
            for rule, size in _line_secrets(part, known):
                yield at, size, rule
        if is_whole and text != event_text(other):
            sizes = [size for _, size in _changed_runs(text, event_text(other))]
            yield at, sum(sizes), "over several events"
        at = stop


def _frame_texts(message: bytes) -> list[bytes]:
    """Headers of a message, and what wraps its event."""
    texts: list[bytes] = []

    def look(text: bytes) -> bytes:
        texts.append(text)
        return text

    with_clean_frame(message, look)
    return texts


def _blank_secret(secret: bytes) -> bytes:
    known = is_stand_in(secret.decode("utf-8", "surrogateescape"))
    return secret if known else bytes(len(secret))


def _changed_runs(body: bytes, marked: bytes) -> Iterator[tuple[int, int]]:
    """Start and length of what redaction would change; a stand-in may keep a character or two."""
    start = stop = -1
    for at in (at for at, (a, b) in enumerate(zip(body, marked, strict=True)) if a != b):
        if stop >= 0 and at - stop > _SAME_RUN:
            yield start, stop - start
            start = at
        start, stop = (at if stop < 0 else start), at + 1
    if stop >= 0:
        yield start, stop - start


def _is_found(run: tuple[int, int], starts: list[int], ends: list[int]) -> bool:
    """Whether something that was found lies in a run; `ends[i]` is the last end up to there."""
    start, size = run
    before = bisect_left(starts, start + size)
    return before > 0 and ends[before - 1] > start


def _line_secrets(text: bytes, known: KnownSecrets) -> Iterator[tuple[str, int]]:
    for _, size, rule in _secret_spots(text, known):
        yield rule, size


def _secret_spots(text: bytes, known: KnownSecrets) -> Iterator[tuple[int, int, str]]:
    """Start, length and rule of every secret; a place that two rules claim counts once."""
    stop = 0
    own = [(a, b, "own key") for a, b, _ in known.spots(text)] if known else []
    for start, end, rule in sorted([*own, *find_secrets(text)]):
        raw = text[start:end].decode("utf-8", "surrogateescape")
        if start >= stop and raw != REDACTED and not is_stand_in(raw):
            stop = end
            yield start, end - start, rule


def _is_binary(path: Path) -> bool:
    head = next(read_lines(path), None)
    return head is not None and b"\0" in head.data[:_PEEK]


def _sighting_at(path: Path, line: int, rule: str, size: int) -> Sighting:
    return Sighting(Place(str(path), line), rule, f"a secret of {size} characters")
