"""One key, in every spelling, in every string of every dialect: it leaves by no way.

Streams are those that are shipped. A key stands whole in a string, and in pieces over events that
each have one more of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from msgspec.structs import replace

from conformance.cassette import open_recording
from conformance.core import own_keys, shipped
from conformance.core.binary import encode_message, event_text, message_length, with_event_text
from conformance.core.events import Chunk, Exchange
from conformance.dialects import WIRE_KEYS
from tests.cassette.redaction.test_known_secrets import KEY, SPELLINGS
from tests.cassette.redaction.test_planted_key import WAYS, Way, headers, leaks, pieces, plain

_STRING: Final = re.compile(rb'"([A-Za-z_]\w*)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_EVENT_END: Final = re.compile(rb"(?<=\n\n)")
_LINE_END: Final = re.compile(rb"(?<=\n)")
_TEXTS: Final = frozenset(WIRE_KEYS.texts)


class Site(NamedTuple):
    """A string: of which recording and exchange, in which frame, under which key."""

    dialect: str
    path: Path
    exchange: int
    frame: int
    key: str


@cache
def exchanges(path: Path) -> tuple[Exchange, ...]:
    return open_recording(path).exchanges


def split(body: bytes) -> list[bytes]:
    """The body's events, lines or messages."""
    if message_length(body, 0):
        found, at = [], 0
        while at < len(body):
            size = message_length(body, at) or len(body) - at
            found.append(body[at : at + size])
            at += size
        return found
    end = _LINE_END if body[:1] == b"{" else _EVENT_END
    return [each for each in end.split(body) if each]


def redacted_frame(frame: bytes) -> bytes:
    return event_text(frame) if message_length(frame, 0) else frame


def saying(frame: bytes, text: bytes) -> bytes:
    return with_event_text(frame, text) if message_length(frame, 0) else text


def is_event(frame: bytes) -> bool:
    return frame.endswith(b"\n") or message_length(frame, 0) > 0


@cache
def sites() -> tuple[Site, ...]:
    """For each key of each dialect, the first string under it in a stream, and in a body."""
    found: dict[tuple[str, str, bool], Site] = {}
    mutants = shipped.cassettes() / "mutants"
    for path in sorted(shipped.cassettes().rglob("*.cassette.jsonl")):
        if mutants in path.parents:
            continue
        for number, exchange in enumerate(exchanges(path)):
            dialect = exchange.dialect or path.relative_to(shipped.cassettes()).parts[0]
            for at, frame in enumerate(split(exchange.body)):
                for match in _STRING.finditer(redacted_frame(frame)):
                    name = match[1].decode()
                    site = Site(dialect, path, number, at, name)
                    found.setdefault((dialect, name, is_event(frame)), site)
    return tuple(found.values())


def planted(site: Site, spelled: list[str]) -> Exchange:
    """The exchange whose string says that, a piece in each of as many frames."""
    exchange = exchanges(site.path)[site.exchange]
    frames = split(exchange.body)
    text = redacted_frame(frames[site.frame])
    match = next(each for each in _STRING.finditer(text) if each[1].decode() == site.key)
    start, stop = match.span(2)
    frames[site.frame : site.frame + 1] = [
        saying(frames[site.frame], text[:start] + piece.encode() + text[stop:]) for piece in spelled
    ]
    return asking(exchange, frames)


def asking(exchange: Exchange, frames: list[bytes]) -> Exchange:
    request = exchange.request and replace(exchange.request, headers=headers())
    return replace(exchange, request=request, chunks=tuple(Chunk(each, 1.0) for each in frames))


def ways_out(exchange: Exchange, folder: Path) -> list[str]:
    way = Way(exchange, folder)
    return [name for name, leave in WAYS.items() if leaks(leave(way))]


def leaving(cases: Iterator[tuple[Site, str]], folder: Path) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for number, (site, name) in enumerate(cases):
        spelled = SPELLINGS[name]
        forms = {"whole": [f"say {spelled}!"]}
        frame = split(exchanges(site.path)[site.exchange].body)[site.frame]
        if site.key in _TEXTS and name != "byte values" and is_event(frame):
            forms["pieces"] = pieces(spelled)
        for how, parts in forms.items():
            inside = folder / f"{number}{how}"
            inside.mkdir()
            out = ways_out(planted(site, parts), inside)
            found += [(site.dialect, site.key, how, name, way) for way in out]
    return found


def table(step: int) -> Iterator[tuple[Site, str]]:
    for at, site in enumerate(sites()):
        for number, name in enumerate(SPELLINGS):
            if (at + number * 7) % step == 0:
                yield site, name


@pytest.fixture
def given_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(own_keys.KEYS, KEY, None)


def test_sites_are_in_every_dialect() -> None:
    dialects = {each.name for each in shipped.cassettes().iterdir()} - {"mutants"}
    assert {site.dialect for site in sites()} >= dialects
    assert len(sites()) > 250


@pytest.mark.usefixtures("given_key")
def test_the_end_of_a_key_that_a_finding_quotes_is_none(tmp_path: Path) -> None:
    quoted = {("claude.stream-json", "partial_json"), ("bedrock.converse", "input")}
    found = [(site, "entities twice") for site in sites() if (site.dialect, site.key) in quoted]
    assert len(found) >= len(quoted)
    assert leaving(iter(found), tmp_path) == []


@pytest.mark.usefixtures("given_key")
def test_a_key_in_any_dialect_leaves_by_no_way(tmp_path: Path) -> None:
    assert leaving(table(397), tmp_path) == []


@pytest.mark.hostile
@pytest.mark.usefixtures("given_key")
def test_a_key_in_any_string_of_any_dialect_leaves_by_no_way(tmp_path: Path) -> None:
    assert leaving(table(1), tmp_path) == []


@pytest.mark.usefixtures("given_key")
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_key_in_a_header_of_a_message_leaves_by_no_way(name: str, tmp_path: Path) -> None:
    path = next(
        site.path for site in sites() if message_length(exchanges(site.path)[site.exchange].body, 0)
    )
    exchange = exchanges(path)[0]
    frames = split(exchange.body)
    spelled = plain(SPELLINGS[name])
    headers = (
        (":message-type", "exception"),
        (":exception-type", spelled),
        (":content-type", "application/json"),
    )
    frames[1:1] = [encode_message(headers, json.dumps({"message": "no"}).encode())]
    assert ways_out(asking(exchange, frames), tmp_path) == []
