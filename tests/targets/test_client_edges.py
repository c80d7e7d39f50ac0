"""Every parsing case of the SSE vectors is put before clients, around the payloads of a model."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.sse import Parser
from conformance.dialects import get
from conformance.judging.transcript import Transcript, read_transcript
from conformance.mutate import take_apart
from conformance.profiles.profile import reading
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.targets.client.edge_cases import BYTEWISE, POISON, edge_cases
from conformance.targets.client.variation import ReplayVariation, replay_variations
from conformance.targets.client.vectors import joined_events
from tests.each import each

ROOT = Path(__file__).parent.parent.parent
VECTORS = ROOT / "tests" / "vectors" / "sse"
NAMES = (
    "openai.chat/deepseek/thinking-then-text",
    "openai.responses/openai/summary-four-parts",
    "anthropic.messages/anthropic/interleaved-thinking",
)
# Of one way of replaying and every vector, by its id, that it puts before a client.
COVERED: dict[str, tuple[str, ...]] = {
    "recorded": (
        *("one-line", "two-in-one-chunk", "type", "default-type", "100-in-order", "multibyte"),
        *("bom-absent", "lf-one-line", "lf-one+two-line", "colon-in-value", "done-sentinel"),
    ),
    "bytes:1": ("one-line-2-chunks", "rs-split-chunks", "multibyte-1-byte", "shared-chunk"),
    "A-one-chunk": ("two-in-one-chunk",),
    "F1-crlf": ("crlf-one-line", "crlf-one+two-line", "newlines"),
    "A-crlf-bytewise": ("crlf-split",),
    "F2-cr": ("cr-one-line", "cr-one+two-line"),
    # That an event is dispatched on the second CR, a client would have to be watched for.
    "A-cr-bytewise": ("cr-cr-dispatches-at-once",),
    "A-mixed-line-ends": ("rs-three-newlines",),
    "F3-bom": ("bom-start", "rs-bom", "bom-multiple", "bom-multiline"),
    "A-bom-bytewise": ("bom-split-2-1", "bom-split-1-1-1"),
    "A-bom-and-comment": ("bom-comment",),
    "A-bom-double": ("bom-double",),
    "A-bom-mid-stream": ("bom-mid-stream",),
    "A-bom-in-text": ("bom-later-data-kept", "bom-second-kept"),
    "F6-no-space": ("no-space",),
    "A-extra-space": ("extra-space",),
    "A-tab": ("leading-space",),
    "A-trailing-space": ("trailing-space-kept",),
    "F7-several-data-lines": ("two-line", "event-data"),
    # An event whose whole data is empty holds no payload: here its line is part of one.
    "A-empty-lines-first": (
        *("no-colon", "empty-data", "bom-empty-data", "field-data"),
        *("lf-empty-first", "crlf-empty-first", "cr-empty-first"),
    ),
    "A-empty-line-inside": ("lf-empty-middle", "crlf-empty-middle", "cr-empty-middle"),
    "F19-blank-lines": (
        *("lf-1-extra-blank", "lf-2-extra-blank", "crlf-1-extra-blank", "crlf-2-extra-blank"),
        *("cr-1-extra-blank", "cr-2-extra-blank"),
    ),
    "A-data-first": ("reverse-order",),
    "A-id-of-each": ("id", "type-and-id", "bom-type-and-id", "id-persists"),
    "A-last-name-wins": ("last-event-field-wins",),
    "A-empty-name": ("event-empty",),
    "A-block-without-data": ("event-without-data", "event-custom"),
    "A-only-an-id": ("id-only-block",),
    "A-id-last": ("id-only-then-eof",),
    "A-id-non-ascii": ("id-non-ascii",),
    "A-id-with-nul": ("id-nul", "id-nul-1", "id-nul-2", "id-nul-3", "id-nul-4", "id-nul-5"),
    "A-id-emptied": ("id-empty-overrides", "id-reset-colon", "id-reset-no-colon"),
    "A-unknown-field": ("unknown-field",),
    "A-line-without-colon": ("field-unknown",),
    "A-name-in-another-case": ("event-data", "field-parsing"),
    "A-name-with-space": ("field-parsing", "field-unknown"),
    "A-name-that-goes-on": ("field-parsing",),
    "A-name-with-nul": ("field-parsing",),
    # JSON holds no NUL, VT or FS: they stand where the standard skips them.
    "A-comments": ("comments", "comment-two", "colon-only", "nul-in-data"),
    "A-comments-that-go-on": ("vt-ff", "fs-gs-rs"),
    "A-comment-first": ("comment-before-event",),
    "A-comment-last": ("comment-single", "comment-after-event"),
    "F4-comment-inside": ("comment-inside-block",),
    "A-retry-bogus": ("retry-bogus", "rs-retry-non-digit"),
    "A-retry-empty": ("retry-empty",),
    "A-retry-leading-zero": ("retry-leading-zero",),
    "A-retry-signed": ("retry-sign",),
    "A-retry-fullwidth": ("retry-fullwidth-digits",),
    "A-retry-trailing-space": ("retry-trailing-space",),
    "A-charset": ("always-utf8",),
    "A-u2028": ("u2028",),
    "A-u2029": ("u2029",),
    "A-u0085": ("nel",),
    "A-nbsp": ("nbsp-not-stripped",),
    "A-only-a-space": ("only-space-delta",),
    "A-4-bytes": ("4-byte-1-byte-chunks",),
    "A-invalid-utf8": ("invalid-utf8",),
    "A-overlong-utf8": ("overlong-and-surrogate",),
    "A-surrogate-utf8": ("overlong-and-surrogate",),
    "A-unfinished-event": ("eof-after-one-newline",),
    "A-block-without-end": ("eof-before-blank-line",),
    "A-character-without-end": ("truncated-utf8-before-eof",),
}


@cache
def stream(name: str) -> tuple[Exchange, str]:
    recording = open_recording(shipped.cassettes() / f"{name}.cassette.jsonl")
    return recording.exchanges[0], str(recording.header.dialect)


@cache
def ways(name: str) -> dict[str, ReplayVariation]:
    exchange, dialect = stream(name)
    return {way.name: way for way in replay_variations(exchange, dialect, "full", edited=True)}


@cache
def sent(name: str, way: str) -> Transcript:
    dialect = get(stream(name)[1])
    profile, _ = choose_profile(dialect, CheckChoices(), None)
    return read_transcript(
        ways(name)[way].sent_exchange(), dialect, reading(profile), keep="semantic"
    )


def ids(file: str, most: int = 1000) -> set[str]:
    loaded = json.loads((VECTORS / f"{file}.json").read_text(encoding="utf-8"))
    return {vector["id"] for vector in loaded["vectors"][:most]}


def test_every_case_of_the_public_suites_is_put_before_clients() -> None:
    """And of our own the first 25, which neither suite has."""
    public = ids("web-platform") | ids("contract") | ids("gaps", 25)
    covered = {each for of in COVERED.values() for each in of}
    assert len(public) == 109  # both suites have an `id-persists`
    assert public - covered == set()
    assert covered - public == set()


def test_every_way_that_is_named_is_replayed_and_every_edge_is_named() -> None:
    there = {way for name in NAMES for way in ways(name)}
    assert COVERED.keys() - there == set()
    assert {way for way in there if way.startswith("A-")} - COVERED.keys() == {
        "A-comment-like-done"
    }


EDGES = sorted({way for name in NAMES for way in ways(name) if way.startswith("A-")})
TEXTS = {"A-u2028", "A-u2029", "A-u0085", "A-nbsp", "A-bom-in-text", "A-4-bytes", "A-charset"}
BROKEN = {"A-invalid-utf8", "A-overlong-utf8", "A-surrogate-utf8"}


@each(NAMES, EDGES)
def test_an_edge_says_what_the_standard_reads(name: str, edge: str) -> None:
    if edge not in ways(name):
        return
    whole, made = sent(name, "recorded"), sent(name, edge)
    assert POISON not in str(made.client_events)
    if edge in TEXTS | BROKEN:
        assert {event["type"] for event in made.client_events} == whole.types
        assert ("\ufffd" in str(made.client_events)) == (edge in BROKEN)
    elif edge not in ("A-only-a-space", "A-unfinished-event"):
        assert joined_events(made.client_events) == joined_events(whole.client_events)


def test_what_must_not_be_read_looks_like_a_delta() -> None:
    for name in NAMES:
        body = b"".join(chunk.data for chunk in ways(name)["A-bom-double"].exchange.chunks)
        head = body.removeprefix(b"\xef\xbb\xbf" * 2)
        [frame, *_] = Parser().feed(head)
        assert POISON in str(json.loads(frame.data))


def edge(name: str, which: str) -> bytes:
    return b"".join(chunk.data for chunk in ways(name)[which].sent_exchange().chunks)


def test_bytes_that_are_no_text_stand_inside_texts() -> None:
    assert b"\xed\xa0\x80" in edge(NAMES[0], "A-surrogate-utf8")
    assert b"\x0bdata: {" in edge(NAMES[0], "A-comments-that-go-on")


def test_a_charset_that_is_none_changes_no_byte_but_the_texts() -> None:
    way = ways(NAMES[0])["A-charset"]
    assert way.exchange.response is not None
    assert way.exchange.response.header("content-type") == "text/event-stream;charset=windows-1252"
    assert "é".encode() in edge(NAMES[0], "A-charset")


def test_what_has_several_bytes_comes_byte_by_byte() -> None:
    for name in ("A-4-bytes", "A-crlf-bytewise", "A-bom-bytewise"):
        assert str(ways(NAMES[0])[name].options.chunking) == BYTEWISE
    assert len(ways(NAMES[0])["A-one-chunk"].sent_exchange().chunks) == 1


ODD: list[tuple[bytes, set[str]]] = [
    (b"", set()),
    (b": only a comment\n\n", set()),
    (b'{"object": "chat.completion", "choices": []}', set()),
    (b"data: [DONE]\n\n", {"A-u2028", "A-nbsp", "A-tab", "A-only-a-space"}),
    (b"data: 5\n\ndata: [1]\n\n", {"A-u2028", "A-only-a-space"}),
]


@pytest.mark.parametrize(("body", "missing"), ODD)
def test_a_stream_without_texts_has_fewer_edges(body: bytes, missing: set[str]) -> None:
    chunks = (Chunk(body),) if body else ()
    exchange = Exchange(response=Response(200), chunks=chunks)
    found = {each.name for each in edge_cases(take_apart(exchange, "openai.chat"))}
    assert found.isdisjoint(missing)
    assert bool(found) == bool(missing)


def test_a_stream_that_broke_off_has_no_other_end() -> None:
    exchange, dialect = stream(NAMES[0])
    broken = Exchange(response=exchange.response, chunks=exchange.chunks, end="reset")
    found = {each.name for each in edge_cases(take_apart(broken, dialect))}
    assert found.isdisjoint({"A-unfinished-event", "A-comment-last", "A-id-last"})


def test_the_page_names_every_edge() -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    assert [name for name in EDGES if f"`{name}`" not in page] == []
