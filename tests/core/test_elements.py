"""An array that grows: its elements are frames as they come, however the bytes are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.elements import ElementParser
from conformance.core.errors import HarnessError
from conformance.core.events import Frame

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SPACE = st.sampled_from(["", " ", "\r\n", "\n  "])
HOSTILE = st.lists(
    st.sampled_from([b"[", b"]", b"{", b"}", b",", b'"', b"\\", b" ", b"1", b"\xff", b'{"a":"]"}'])
).map(b"".join)


def parsed(*pieces: bytes, most: int = 1 << 20) -> list[Frame]:
    parser = ElementParser(max_element_bytes=most)
    found = [frame for piece in pieces for frame in parser.feed(piece)]
    return [*found, *parser.close()]


def frame_fields(*pieces: bytes, most: int = 1 << 20) -> list[tuple[str, str, str, int]]:
    return [(f.kind, f.event, f.data, f.offset) for f in parsed(*pieces, most=most)]


def test_an_element_is_a_frame_as_soon_as_its_last_bracket_is_there() -> None:
    parser = ElementParser()
    assert [frame.data for frame in parser.feed(b'[{"a":"}]"}')] == ['{"a":"}]"}']
    assert parser.feed(b"\r\n,\r\n") == []
    assert [(f.data, f.offset) for f in parser.feed(b'{"b":[1]}]')] == [('{"b":[1]}', 16)]
    assert parser.close() == []


@pytest.mark.parametrize(
    ("wire", "frames"),
    [
        (b"[]", []),
        (b'\xef\xbb\xbf[1, "a,b" ,[2]]\n', [("1", 4), ('"a,b"', 7), ("[2]", 14)]),
        (b"[{},,{}]", [("{}", 1), ("{}", 5)]),
    ],
)
def test_elements(wire: bytes, frames: list[tuple[str, int]]) -> None:
    assert frame_fields(wire) == [("element", "message", data, at) for data, at in frames]


@pytest.mark.parametrize(
    ("wire", "reason", "data"),
    [
        (b'[{"a":1}', "unfinished", ""),
        (b'[{"a":1},{"b', "unfinished", '{"b'),
        (b"[{}]{}\n", "after-end", ""),
    ],
)
def test_what_no_client_can_use_is_reported(wire: bytes, reason: str, data: str) -> None:
    *_, last = frame_fields(wire)
    assert last[:3] == ("ignored-element", reason, data)


def test_broken_utf8_is_reported_before_its_element() -> None:
    assert [each[:2] for each in frame_fields(b'[{"a":"\xff"}]')] == [
        ("ignored-element", "bad-utf8"),
        ("element", "message"),
    ]


def test_an_element_that_is_too_long_is_skipped_and_the_next_one_read() -> None:
    wire = b'[{"a":"' + b"x" * 90 + b'"},{"b":1}]'
    pieces = [wire[at : at + 7] for at in range(0, len(wire), 7)]
    found = [each[:3] for each in frame_fields(*pieces, most=20)]
    assert found == [("ignored-element", "too-long", ""), ("element", "message", '{"b":1}')]


def test_a_parser_that_was_closed_is_not_fed() -> None:
    parser = ElementParser()
    parser.close()
    with pytest.raises(HarnessError):
        parser.feed(b"[]")


@given(st.lists(VALUES), SPACE, st.booleans())
def test_elements_are_those_that_json_has(values: list[Any], space: str, ascii_only: bool) -> None:
    texts = [json.dumps(each, ensure_ascii=ascii_only) for each in values]
    wire = f"[{space}{f'{space},{space}'.join(texts)}{space}]".encode("utf-8", "surrogatepass")
    frames = parsed(wire)
    assert [frame.data for frame in frames] == texts
    assert [wire[frame.offset :].startswith(frame.data.encode()) for frame in frames] == [
        True
    ] * len(texts)


@given(HOSTILE, st.data())
def test_frames_under_any_cutting(wire: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(wire))).map(sorted))
    assert frame_fields(*[wire[a:b] for a, b in pairwise([0, *cuts, len(wire)])]) == frame_fields(
        wire
    )
