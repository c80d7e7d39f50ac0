"""A scan finds what redaction would replace, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette import Cassette, Header, redact, write
from conformance.cassette.redaction.scan import Sighting, scan
from conformance.core.events import Chunk, Exchange, Request, Response
from tests.cassette.redaction.secret_shapes import FIELDS, SHAPES

KEY = SHAPES["openai project"]


def cassette(*chunks: str, request: Request | None = None) -> Cassette:
    data = tuple(Chunk(chunk.encode(), 1.0) for chunk in chunks)
    return Cassette(Header(), (Exchange(request=request, response=Response(200), chunks=data),))


def seen(folder: Path, of: Cassette) -> list[Sighting]:
    path = folder / "a.cassette.jsonl"
    write(path, of)
    return list(scan(path))


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_seen_until_it_is_redacted(name: str, tmp_path: Path) -> None:
    leaky = cassette(f"data: {SHAPES[name]}\n\n", request=Request(json={"x": SHAPES[name]}))
    assert {one.place.line for one in seen(tmp_path, leaky)} == {2, 4}
    assert not seen(tmp_path, redact(leaky))


@pytest.mark.parametrize("name", [name for name, (_, one) in FIELDS.items() if len(one) < 40])
def test_every_field_is_seen_until_it_is_redacted(name: str, tmp_path: Path) -> None:
    around, secret = FIELDS[name]
    leaky = cassette(f"data: {around % secret}\n\n")
    assert [one.place.line for one in seen(tmp_path, leaky)] == [4]
    assert not seen(tmp_path, redact(leaky))


def test_opaque_reasoning_data_is_no_secret(tmp_path: Path) -> None:
    around, opaque = FIELDS["encrypted content"]
    assert not seen(tmp_path, cassette(f"data: {around % opaque}\n\n"))


@pytest.mark.parametrize("width", [1, 5, 40])
def test_a_secret_over_chunks_and_events_is_seen_where_it_begins(
    width: int, tmp_path: Path
) -> None:
    parts = [KEY[at : at + width] for at in range(0, len(KEY), width)]
    leaky = cassette("data: 1\n\n", *(f'data: {{"delta":"{part}"}}\n\n' for part in parts), "x")
    found = seen(tmp_path, leaky)
    begins = 5 + (3 // width if width < 3 else 0)
    assert found
    assert found[0].place.line == begins
    assert not seen(tmp_path, redact(leaky))


def test_a_sighting_does_not_say_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(f"ok\n{KEY}\n")
    (one,) = scan(path)
    assert KEY[5:15] not in str(one)
    assert str(one.place) == f"{path}:2"
