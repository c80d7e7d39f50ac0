"""Files of other programs that are broken, hostile or large: refused in one line, in bounds."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette.importers.tnetstrings import BrokenNetstringError, read_netstrings
from conformance.recordings.check import check_paths
from tests.cassette.saved_files import CHUNK, archive, as_event, entry, netstring, stored, timed

BAD: dict[str, tuple[str, bytes | str, str]] = {
    "head alone": ("a", "HTTP/1.1 200 OK", "no known|holds|expected|empty|HTTP"),
    "no trace": ("a.txt", "== Info: hello\nwhat\n", r"a\.txt:2: expected a block of a curl trace"),
    "a gap": (
        "a.txt",
        "<= Recv data, 40 bytes (0x28)\n0010: abc\n== Info: x\n",
        r"a\.txt:2: expected byte 0000 of the block",
    ),
    "too few": (
        "a.txt",
        "<= Recv data, 40 bytes (0x28)\n0000: abc\n== Info: x\n",
        r"a\.txt:1: expected 40 bytes, got 3",
    ),
    "no answer": ("a.txt", "=> Send data, 3 bytes (0x3)\n0000: abc\n", "the trace shows no answer"),
    "no head": (
        "a.txt",
        "<= Recv header, 3 bytes (0x3)\n0000: abc\n",
        r"a\.txt:1: expected a response head",
    ),
    "no archive": ("a.har", "{}", r"a\.har:1: expected a HAR file"),
    "broken archive": ("a.har", '{"log": {', "broken JSON"),
    "no response": ("a.har", archive({}), r"a\.har:1: entry 1 has no response"),
    "base64": (
        "a.har",
        archive(entry("/", "?", encoding="base64")),
        r"a\.har:1: entry 1 cannot be read: ",
    ),
    "no url": ("a.har", archive(entry("http://a[b/", "x")), "entry 1 cannot be read: Invalid IPv6"),
    "nothing judged": (
        "a.har",
        archive(entry("/", "<p>")),
        "holds no answer of an API that is judged: exchanges of other APIs were skipped",
    ),
    "packed bomb": (
        "a",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(bytes(80_000_000)),
        "inflates to more than 67,108,864 bytes",
    ),
    "broken coding": (
        "a",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b\x08\x00nonsense" + bytes(20),
        "the body is no gzip",
    ),
    "flow cut": ("a.mitm", b"99:4:type;4:http;8:response;", r"a\.mitm \(byte 0\): no file of mitm"),
    "deep flow": (
        "a.mitm",
        b"%d:4:type;" % 20 + b"1:" * 90,
        r"a\.mitm \(byte \d+\): no file of mitmproxy: expected",
    ),
    "mixed chunks": (
        "a.json",
        json.dumps([as_event(CHUNK), CHUNK]),
        r"a\.json:1: expected a text as the other chunks are",
    ),
    "no chunk": (
        "a.jsonl",
        timed([1, 2, 3], as_event) + '{"ts": 4}\n',
        r"a\.jsonl:4: expected an object with a time and a chunk",
    ),
    "no digits": (
        "a.trace",
        f"<= Recv data, 17 bytes (0x11)\n0000: {'61 ' * 15}zz {'a' * 16}\n0010: {'61 ':48}a\n",
        r"a\.trace:2: expected 16 bytes in hexadecimal digits",
    ),
    "a name that is no text": (
        "a.jsonl",
        timed([1, 2, 3], as_event).encode() + b'{"ts": 4, "\xa1": 1, "chunk": "x"}\n',
        r"a\.jsonl:4: expected an object in UTF-8",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, case: str) -> None:
    name, data, expected = BAD[case]
    path = stored(tmp_path, name, data)
    report = check_paths([path])
    [error] = report.errors
    assert "\n" not in error
    assert re.search(expected, error), error
    assert report.exit_code() == 2


Netstring = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(Netstring, max_size=3))
def test_netstrings_are_read_as_they_were_written(values: list[Any]) -> None:
    data = b"".join(map(netstring, values))
    assert [value for _, value in read_netstrings(data)] == values


@given(st.binary(max_size=200), Netstring)
def test_broken_netstrings_raise_their_own_error(noise: bytes, value: Any) -> None:
    data = netstring(value)[: len(noise)] + noise
    places = []
    try:
        places = [at for at, _ in read_netstrings(data)]
    except BrokenNetstringError as err:
        places = [err.at]
    assert all(0 <= at <= len(data) for at in places)


def test_netstrings_are_bounded() -> None:
    deep = b"0:~"
    for _ in range(100):
        deep = b"%d:%b]" % (len(deep), deep)
    for data in (deep, b"3000003:" + b"0:~" * 1_000_001 + b"]"):
        with pytest.raises(BrokenNetstringError, match=r"nested more than 64|more than 1,000,000"):
            list(read_netstrings(data))


LARGE: dict[str, Callable[[], bytes]] = {
    "blocks": lambda: b"== Info: x\n<= Recv data, 1 bytes (0x1)\n0000: a\n" * 60_000,
    "requests": lambda: b"=> Send header, 1 bytes (0x1)\n0000: a\n" * 60_000,
    "flows": lambda: netstring({"type": "http", "response": {}, "a": "\n" * 200}) * 20_000,
    "dots": lambda: (
        b"<= Recv header, 19 bytes (0x13)\n0000: HTTP/1.1 200 OK\n0011: \n"
        b"<= Recv data, 640064 bytes (0x1)\n"
        + b"".join(b"%04x: %b\n" % (at, b"." * 64) for at in range(0, 640_000, 64))
        + b"%04x: %b\n" % (640_000, b"x" * 64)
    ),
}


@pytest.mark.parametrize("case", LARGE)
def test_large_files_take_time_in_proportion(tmp_path: Path, case: str) -> None:
    """In proportion to the square of their length they would take minutes."""
    assert len(check_paths([stored(tmp_path, "a", LARGE[case]())]).errors) == 1
