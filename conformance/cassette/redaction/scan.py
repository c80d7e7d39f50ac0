"""Looks for secrets that were left in a file, and tells their lines.

Rule 1: what redaction would replace is a secret; stand-ins and opaque reasoning data are none.
Rule 2: a body of a cassette is looked at as a whole, so a secret in two chunks, or spelled out over
several events, is found; every other file, and the other lines of a cassette, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.cassette.positions import cassette_layout
from conformance.cassette.read import exchanges
from conformance.cassette.records import parse_record
from conformance.cassette.redaction.deltas import Deltas
from conformance.cassette.redaction.message_deltas import MessageDeltas
from conformance.cassette.redaction.opaque import find_secrets
from conformance.cassette.redaction.placeholders import is_stand_in
from conformance.cassette.redaction.redact import CREDENTIAL_HEADERS, REDACTED
from conformance.cassette.source import RawLine, plain_name, read_lines
from conformance.core.binary import event_text, message_length
from conformance.core.errors import Place
from conformance.core.events import Request, Response
from conformance.core.framing import Framing, framing_of

_PEEK: Final = 8192
_BLANKED: Final = re.compile(rb"\x00+")


class Sighting(Struct, frozen=True):
    """A secret: where, by which redaction rule, and how long; never what it is."""

    place: Place
    rule: str
    hint: str


def scan(path: Path | str) -> Iterator[Sighting]:
    """Every secret of a file, in its order. A binary file has none. Raises CassetteError."""
    where = Path(path)
    if plain_name(where).endswith(".cassette.jsonl"):
        yield from sorted(_in_cassette(where), key=lambda one: one.place.line or 0)
    elif not _is_binary(where):
        for line in read_lines(where):
            for rule, size in _line_secrets(line.data):
                yield _sighting_at(where, line.number, rule, size)


def _in_cassette(path: Path) -> Iterator[Sighting]:
    file = str(path)
    for line in read_lines(path):
        if not line.ended or line.number == 1:
            found = list(_line_secrets(line.data))
        else:
            found = list(_beside_bodies(file, line))
        for rule, size in found:
            yield _sighting_at(path, line.number, rule, size)
    for exchange in exchanges(path):
        body = exchange.body
        framing = framing_of(exchange)
        spans = list(_in_messages(body) if framing == "binary" else _in_body(body, framing))
        layout = cassette_layout(path, exchange.number) if spans else None
        for start, size, rule in spans:
            assert layout is not None
            yield _sighting_at(path, layout.line(start), rule, size)


def _beside_bodies(file: str, line: RawLine) -> Iterator[tuple[str, int]]:
    """What a line that is no part of a body holds."""
    record = parse_record(file, line)
    kinds = record.kinds()
    if not {"text", "hex", "message"}.isdisjoint(kinds):
        return
    for message in (record.request, record.response):
        if isinstance(message, Request | Response):
            for name, value in message.headers:
                if name.lower() in CREDENTIAL_HEADERS and value != REDACTED:
                    yield f"header {name.lower()}", len(value)
    yield from _line_secrets(line.data)


def _in_body(body: bytes, framing: Framing) -> Iterator[tuple[int, int, str]]:
    """As `_spans`, and secrets over several events: where redaction would put a stand-in."""
    found: list[tuple[int, int, str]] = []
    at = 0

    def look(events: bytes) -> bytes:
        nonlocal at
        found.extend((at + start, size, rule) for start, size, rule in _secret_spots(events))
        at += len(events)
        return events

    deltas = Deltas(_blank, look, lambda _: None, framing)
    marked = deltas.feed(body) + deltas.close()
    if marked != body:
        runs = (match.span() for match in _BLANKED.finditer(marked))
        found += [(a, b - a, "over several events") for a, b in runs if body[a]]
    yield from sorted(found)


def _in_messages(body: bytes) -> Iterator[tuple[int, int, str]]:
    """As `_in_body`, of binary messages: each stands for all of its bytes."""
    deltas = MessageDeltas(Deltas(_blank, lambda events: events, lambda _: None, "lines"))
    marked = deltas.feed(body) + deltas.close()
    at = 0
    while at < len(body):
        stop = at + (message_length(body, at) or len(body))
        message, other = body[at:stop], marked[at:stop]
        is_whole = stop <= len(body)
        text = event_text(message) if is_whole else message
        for size, rule in ((size, rule) for rule, size in _line_secrets(text)):
            yield at, size, rule
        if is_whole and (run := _BLANKED.search(event_text(other))) and text != event_text(other):
            yield at, len(run[0]), "over several events"
        at = stop


def _blank(secret: bytes) -> bytes:
    known = is_stand_in(secret.decode("utf-8", "surrogateescape"))
    return secret if known else bytes(len(secret))


def _line_secrets(text: bytes) -> Iterator[tuple[str, int]]:
    for _, size, rule in _secret_spots(text):
        yield rule, size


def _secret_spots(text: bytes) -> Iterator[tuple[int, int, str]]:
    """Start, length and rule of every secret; a place that two rules claim counts once."""
    stop = 0
    for start, end, rule in sorted(find_secrets(text)):
        raw = text[start:end].decode("utf-8", "surrogateescape")
        if start >= stop and raw != REDACTED and not is_stand_in(raw):
            stop = end
            yield start, end - start, rule


def _is_binary(path: Path) -> bool:
    head = next(read_lines(path), None)
    return head is not None and b"\0" in head.data[:_PEEK]


def _sighting_at(path: Path, line: int, rule: str, size: int) -> Sighting:
    return Sighting(Place(str(path), line), rule, f"a secret of {size} characters")
