from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.wire.requests import (
    H11RequestReader,
    HttpRequest,
    RequestReader,
    RequestRejected,
    plain_head,
)

METHODS = st.sampled_from(["GET", "POST", "CONNECT", "HEAD", "get", "P-T", ""])
TARGETS = st.sampled_from(["/", "/v1/x?a=b", "*", "http://a/b", "/ä", "/a b", ""])
VERSIONS = st.sampled_from(["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "http/1.1"])
FIELDS = st.sampled_from(
    [
        "Host: a",
        "host:b",
        "Content-Length: 3",
        "content-length: 03",
        "content-length: +3",
        "content-length: 3, 3",
        "content-length:",
        "Transfer-Encoding: chunked",
        "Connection: Close",
        "connection: keep-alive, Upgrade",
        "Upgrade: h2c",
        "Expect: 100-continue",
        "x-spaces:  a b \t",
        "x-empty:",
        "x-colon: a:b",
        "x-ü: ü",
        "x bad: 1",
        "x-bad : 1",
        " folded",
        "x-nul: \x00",
        "no colon",
        ": no name",
    ]
)
BODIES = st.sampled_from([b"", b"abc", b"abcd", b"3\r\nabc\r\n0\r\n\r\n", b"ab"])
ENDS = st.sampled_from(["\r\n", "\r\n", "\r\n", "\n"])
MOST = 4096


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    plain = st.just("POST /v1/x HTTP/1.1")
    odd = st.tuples(METHODS, TARGETS, VERSIONS).map(" ".join)
    end = draw(ENDS)
    lines = [draw(st.one_of(plain, odd)), *draw(st.lists(FIELDS, max_size=4))]
    return end.join((*lines, "", "")).encode("latin-1") + draw(BODIES)


def by_h11(data: bytes) -> tuple[HttpRequest | None, bytes] | int:
    reader = H11RequestReader(MOST, MOST)
    try:
        request = reader.feed(data)
    except RequestRejected as reason:
        return reason.status
    return request, reader.rest if request else b""


def by_reader(data: bytes, cuts: list[int]) -> tuple[HttpRequest | None, bytes] | int:
    reader = RequestReader(MOST, MOST)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    request, at = None, 0
    try:
        for stop in places[1:]:
            request = reader.feed(data[at:stop])
            at = stop
            if request is not None:
                break
    except RequestRejected as reason:
        return reason.status
    return request, (reader.rest + data[at:]) if request else b""


@given(requests(), st.lists(st.integers(1, 200), max_size=4))
def test_a_request_means_what_h11_says(data: bytes, cuts: list[int]) -> None:
    expected, got = by_h11(data), by_reader(data, cuts)
    # What is refused may be refused sooner, when less of it has come.
    assert got == expected or (isinstance(got, int) and isinstance(expected, int))


PLAIN = [
    (b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 5, False),
    (b"GET /a?b HTTP/1.1\r\nHost:a\r\nConnection: close\r\n\r\n", 0, True),
]


@pytest.mark.parametrize(("data", "length", "closes"), PLAIN)
def test_plain_requests_are_read_at_once(data: bytes, length: int, closes: bool) -> None:
    head = plain_head(data)
    assert head is not None
    assert (head.size + head.length, head.length, head.closes) == (len(data), length, closes)


NOT_PLAIN = [
    b"CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /a HTTP/1.1\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: a\r\n",
    b"GET /a HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
]


@pytest.mark.parametrize("data", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_h11(data: bytes) -> None:
    assert plain_head(data) is None


def test_a_long_plain_head_is_refused() -> None:
    data = b"GET / HTTP/1.1\r\nHost: a\r\nx: " + b"y" * 5000 + b"\r\n\r\n"
    with pytest.raises(RequestRejected, match="head has more than 4,096 bytes"):
        RequestReader(MOST, MOST).feed(data)


def test_a_long_head_that_comes_at_once_is_refused_as_h11_reads_it() -> None:
    data = b"GET / HTTP/1.1\r\nHost: a\r\n" + b"x: y\r\n" * 2000 + b"\r\n"
    with pytest.raises(RequestRejected, match="head has more than 4,096 bytes"):
        RequestReader(MOST, MOST).feed(data)
    body = b"POST / HTTP/1.1\r\nHost: a\r\nx: y\r\nx: y\r\nContent-Length: 4000\r\n\r\n"
    assert RequestReader(MOST, MOST).feed(body + b"a" * 4000)


def test_a_body_that_is_announced_too_long_is_refused_at_once() -> None:
    with pytest.raises(RequestRejected, match="body has more than 4,096 bytes"):
        RequestReader(MOST, MOST).feed(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n"
        )
