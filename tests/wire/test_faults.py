"""Errors of the network, in words for people and with what they can do."""

from __future__ import annotations

import ssl

import pytest

from conformance.wire.faults import describe_network_error, network_hint

OTHER = "the answer is not HTTP/1.1; maybe HTTP/2 without TLS, or another protocol"
PORT = "name a port where HTTP/1.1 is spoken"


@pytest.mark.parametrize(
    ("error", "words", "hint"),
    [
        (
            ssl.SSLWantReadError("The operation did not complete (read) (_ssl.c:1006)"),
            "TLS failed: the server did not complete the handshake",
            "no TLS is spoken there; try http://",
        ),
        (ValueError("illegal status line: bytearray(b'\\x15hello')"), OTHER, PORT),
        (ValueError("illegal request line"), OTHER, PORT),
        (ConnectionRefusedError(), "nothing listens there (connection refused)", ""),
    ],
)
def test_an_error_of_the_network_is_described_in_plain_words(
    error: Exception, words: str, hint: str
) -> None:
    assert describe_network_error(error) == words
    assert network_hint(error) == hint
