"""A plain response head is read as h11 reads it, and every other one is left to h11."""

from __future__ import annotations

import h11
from hypothesis import given
from hypothesis import strategies as st

from conformance.wire.client import plain_response
from conformance.wire.heads import decode_headers

LINES = st.sampled_from(
    (
        *("content-type: text/event-stream", "Content-Length: 5", "content-length: 05"),
        *("content-length: 5, 5", "content-length: -1", "content-length:", "x:  spaced out \t"),
        *("transfer-encoding: chunked", "Transfer-Encoding: Chunked", "transfer-encoding: gzip"),
        *("transfer-encoding: gzip, chunked", " folded", "no colon", "x y: z", "x : y", ": none"),
        *(
            "x: caf\xe9",
            "x: \x01",
            "x: \x7f",
            "connection: close",
            "x:",
            "content-length: " + "9" * 30,
        ),
    )
)
STARTS = st.sampled_from(
    (
        *("HTTP/1.1 200 OK", "HTTP/1.1 204 ", "HTTP/1.1 404", "HTTP/1.1 100 Continue"),
        *("HTTP/1.0 200 OK", "HTTP/1.1 999 x", "HTTP/1.1 200  a  b ", "http/1.1 200 OK", "SSH-2.0"),
    )
)


@given(STARTS, st.lists(LINES, max_size=4), st.sampled_from(("\r\n", "\n")))
def test_a_plain_head_means_the_same_to_h11(start: str, lines: list[str], ends: str) -> None:
    wire = "".join(f"{line}{ends}" for line in (start, *lines, "")).encode("latin-1") + b"rest"
    plain = plain_response(wire)
    assert plain_response(wire[:-5]) is None
    if plain is None:
        return
    parser = h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    parser.send(h11.EndOfMessage())
    parser.receive_data(wire)
    event = parser.next_event()
    assert isinstance(event, h11.Response)
    assert plain.response.status == event.status_code
    assert plain.response.headers == decode_headers(event.headers.raw_items())
    assert plain.reason.strip() == event.reason.decode("latin-1").strip()
    assert wire[plain.size :] == b"rest"


def test_what_nearly_every_server_sends_is_plain() -> None:
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    assert plain_response(head.encode()) is not None
