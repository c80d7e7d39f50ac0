"""A scan finds what redaction would replace, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import Cassette, Header, redact, write
from conformance.cassette.redaction.credentials import Span
from conformance.cassette.redaction.opaque import find_secrets
from conformance.cassette.redaction.scan import Sighting, scan
from conformance.core.events import Chunk, Exchange, Request, Response
from tests.cassette.redaction.secret_shapes import FIELDS, SHAPES

KEY = SHAPES["openai project"]


def cassette(*chunks: str, request: Request | None = None) -> Cassette:
    data = tuple(Chunk(chunk.encode(), 1.0) for chunk in chunks)
    return Cassette(Header(), (Exchange(request=request, response=Response(200), chunks=data),))


def sightings(folder: Path, of: Cassette) -> list[Sighting]:
    path = folder / "a.cassette.jsonl"
    write(path, of)
    return list(scan(path))


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_found_until_it_is_redacted(name: str, tmp_path: Path) -> None:
    leaky = cassette(f"data: {SHAPES[name]}\n\n", request=Request(json={"x": SHAPES[name]}))
    assert {one.place.line for one in sightings(tmp_path, leaky)} == {2, 4}
    assert not sightings(tmp_path, redact(leaky))


@pytest.mark.parametrize("name", [name for name, (_, one) in FIELDS.items() if len(one) < 40])
def test_every_field_is_found_until_it_is_redacted(name: str, tmp_path: Path) -> None:
    around, secret = FIELDS[name]
    leaky = cassette(f"data: {around % secret}\n\n")
    assert [one.place.line for one in sightings(tmp_path, leaky)] == [4]
    assert not sightings(tmp_path, redact(leaky))


def test_opaque_reasoning_data_is_no_secret(tmp_path: Path) -> None:
    around, opaque = FIELDS["encrypted content"]
    assert not sightings(tmp_path, cassette(f"data: {around % opaque}\n\n"))


@pytest.mark.parametrize("width", [1, 5, 40])
def test_secret_over_chunks_and_events_is_found_where_it_begins(width: int, tmp_path: Path) -> None:
    parts = [KEY[at : at + width] for at in range(0, len(KEY), width)]
    leaky = cassette("data: 1\n\n", *(f'data: {{"delta":"{part}"}}\n\n' for part in parts), "x")
    found = sightings(tmp_path, leaky)
    begins = 5 + (3 // width if width < 3 else 0)
    assert found
    assert found[0].place.line == begins
    assert not sightings(tmp_path, redact(leaky))


def test_a_sighting_does_not_say_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(f"ok\n{KEY}\n")
    (one,) = scan(path)
    assert KEY[5:15] not in str(one)
    assert str(one.place) == f"{path}:2"


LINES = st.lists(
    st.lists(
        st.sampled_from(
            [
                *('"api_key": "', KEY, '"', "{", "}", '"properties": {', "password", " = "),
                *("Authorization: Bearer ", "\\n", "\r", "words ", "://u:hunter2secret@h/"),
            ]
        ),
        max_size=6,
    ).map("".join),
    max_size=40,
)


@given(LINES)
def test_lines_looked_at_together_show_what_each_shows_alone(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.log"
    path.write_bytes("\n".join(lines).encode())
    alone: list[tuple[int, str, str]] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        one = path.with_name("one.log")
        one.write_bytes(line)
        alone += [(number, each.rule, each.hint) for each in scan(one)]
    assert [(each.place.line, each.rule, each.hint) for each in scan(path)] == alone


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the texts in which secrets are looked for."""
    sizes: list[int] = []

    def counting(text: bytes) -> list[Span]:
        sizes.append(len(text))
        return find_secrets(text)

    monkeypatch.setattr("conformance.cassette.redaction.scan.find_secrets", counting)
    return sizes


def test_clean_lines_are_scanned_in_bulk(tmp_path: Path, looked: list[int]) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"0042\n" * 50_000)
    assert not list(scan(path))
    assert len(looked) < 100
    assert sum(looked) < 2 * path.stat().st_size


def test_secret_lines_are_scanned_twice(tmp_path: Path, looked: list[int]) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b'{"authorization": "Bearer Ab1"}\n' * 500)
    assert len(list(scan(path))) == 500
    assert sum(looked) < 3 * path.stat().st_size
