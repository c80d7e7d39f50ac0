"""Lines of JSON against vectors, against a naive reader, and under every way of cutting."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.errors import HarnessError
from conformance.core.events import Frame
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.lines import LineParser

FILE = Path(__file__).parent.parent / "vectors" / "framing" / "lines.json"
VECTORS = json.loads(FILE.read_text())["vectors"]
WIRE = st.lists(
    st.sampled_from(
        [
            *(b"{}", b'{"a":1}', b'{"a":', b"\n", b"\r\n", b"\r", b" ", b"x", b"[DONE]"),
            *(b"\xef\xbb\xbf", b"\xff", b"\x1e", "\N{GREEK SMALL LETTER PI}".encode()),
        ]
    )
).map(b"".join)


def parsed(*chunks: bytes, most: int = 1 << 26) -> list[Frame]:
    parser = LineParser(max_line_bytes=most)
    found = [frame for chunk in chunks for frame in parser.feed(chunk)]
    return [*found, *parser.close()]


def wire_of(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["hex"]) if "hex" in vector else vector["wire"].encode()


def stated(vector: dict[str, Any]) -> list[Frame]:
    return [
        Frame(f.get("kind", "line"), f.get("event", "message"), f["data"], "", f["offset"])
        for f in vector["frames"]
    ]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors_hold_whole_bytewise_and_in_two(vector: dict[str, Any]) -> None:
    wire, most = wire_of(vector), vector.get("max_line_bytes", 1 << 26)
    assert parsed(wire, most=most) == stated(vector)
    assert parsed(*(wire[at : at + 1] for at in range(len(wire))), most=most) == stated(vector)
    for at in range(len(wire)):
        assert parsed(wire[:at], wire[at:], most=most) == stated(vector)


def naive(wire: bytes) -> list[Frame]:
    """As the rules say it, over the whole stream at once."""
    found: list[Frame] = []
    at = 3 if wire.startswith(b"\xef\xbb\xbf") else 0
    *ended, last = wire[at:].split(b"\n")
    for number, line in enumerate([*ended, last]):
        if line.strip():
            whole = line.decode("utf-8", "replace")
            if number == len(ended) and decode_json(whole.removeprefix("\x1e")) is NOT_JSON:
                found.append(Frame("ignored-line", "unfinished", whole, "", at))
            else:
                shown = whole.removesuffix("\r")
                value = shown.removeprefix("\x1e")
                if "\ufffd" in shown:
                    found.append(Frame("ignored-line", "bad-utf8", shown, "", at))
                found.append(Frame("line", "message", value, "", at))
        at += len(line) + 1
    return found


@given(WIRE, st.data())
def test_frames_equal_a_naive_reader_under_any_cutting(wire: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(wire))).map(sorted))
    chunks = [wire[a:b] for a, b in pairwise([0, *cuts, len(wire)])]
    assert parsed(*chunks) == naive(wire)


@given(WIRE, st.data())
def test_too_long_lines_are_the_same_however_they_are_cut(wire: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(wire))).map(sorted))
    chunks = [wire[a:b] for a, b in pairwise([0, *cuts, len(wire)])]
    assert parsed(*chunks, most=5) == parsed(wire, most=5)


def test_a_line_that_never_ends_is_not_kept() -> None:
    parser = LineParser(max_line_bytes=1000)
    frames = [frame for _ in range(1000) for frame in parser.feed(b"x" * 100)]
    assert [frame.event for frame in frames] == ["too-long"]
    assert parser.feed(b"\n{}\n") == [Frame("line", "message", "{}", "", 100_001)]


def test_nothing_is_fed_after_close() -> None:
    parser = LineParser()
    parser.close()
    assert parser.close() == []
    with pytest.raises(HarnessError, match="after close"):
        parser.feed(b"{}")
