"""Plain lines read in one go: the same outcome as line by line, whatever the lines hold."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import locate, read
from conformance.cassette.read import CassetteReader
from conformance.cassette.records import decode_plain, plain_extent
from conformance.core.errors import CassetteError

OPENED = '{"cassette":"1.0"}\n{"request":{"path":"/v1/responses"}}\n{"response":{"status":200}}\n'
TEXTS = st.text(max_size=6)
TIMES = st.one_of(st.none(), st.floats(0, 1e6), st.integers(-1, 99))
DATA = st.one_of(
    st.builds(lambda text: {"text": text}, TEXTS),
    st.builds(lambda text, ms: {"ms": ms, "text": text}, TEXTS, TIMES),
    st.builds(lambda text: {"text": text, "exchange": 1}, TEXTS),
    st.builds(lambda text: {"text": text, "new": [text]}, TEXTS),
    st.builds(lambda data: {"ms": 1.5, "hex": data.hex()}, st.binary(max_size=3)),
    st.just({"ms": 1.0}),
)
ODD = st.sampled_from(
    [
        '{"end":"eof"}',
        '{"request":null}\n{"response":null}',
        '{"text":"a"},{"text":"b"}',
        '{"text":"a","text":"b"}',
        '{"text":',
        '"b"}',
        '{"text":"\\ud800"}',
        '{"text":1}',
        '{"ms":1e400,"text":"a"}',
        " ",
    ]
)
LINES = st.lists(st.one_of(DATA.map(json.dumps), DATA.map(json.dumps), ODD), max_size=8)


def outcome(path: Path) -> object:
    try:
        drafts = list(CassetteReader(path, locating=True).drafts())
        return read(path), [(draft.offsets, draft.lines) for draft in drafts]
    except CassetteError as err:
        return str(err)


@given(LINES, st.booleans(), st.integers(0, 40))
def test_reading_in_one_go_is_reading_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ended: bool, cut: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.cassette.jsonl"
    text = OPENED + "\n".join(lines) + "\n" * ended
    path.write_bytes(text.encode()[: len(text) - cut if cut > 30 else None])
    at_once = outcome(path)
    with patch("conformance.cassette.read.plain_extent", lambda _lines, at: at):
        assert at_once == outcome(path)


def test_a_file_that_was_written_again_is_located_again(tmp_path: Path) -> None:
    path = tmp_path / "again.cassette.jsonl"
    for text in ('{"ms":1,"text":"ab"}\n{"text":"c"}\n', '{"ms":1,"text":"a"}\n\n{"text":"bc"}\n'):
        path.write_text(OPENED + text, encoding="utf-8")
        assert locate(path, 1, [0, 1, 2]) == ([4, 4, 5] if "ab" in text else [4, 6, 6])


@pytest.mark.parametrize(
    "lines",
    [
        [b'{"text":"a"},{"text":"b"}'],
        [b'{"text":"a"', b'{"text":"b"}'],
        [b'{"text":"a"}]', b'[{"text":"b"}'],
        [b'{"text":"a","exchange":2}'],
        [b'{"ms":-1,"text":"a"}'],
        [b'{"text":"\xff"}'],
    ],
)
def test_what_is_not_plain_is_left_alone(lines: list[bytes]) -> None:
    assert decode_plain(lines) is None


def test_plain_lines_are_those_that_begin_the_same() -> None:
    lines = [b'{"response":null}', b'{"text":"a"}', b'{"ms":1,"text":"b"}', b'{"end":"eof"}']
    assert [plain_extent(lines, at) for at in range(4)] == [0, 3, 3, 3]
