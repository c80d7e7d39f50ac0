"""Redacting what is plain at once gives what redacting it chunk by chunk would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import BodyRedactor, Redactor
from conformance.cassette.redaction.opaque import _TOKEN, _JsonWalk, secret_spans
from conformance.core.events import Chunk, Response
from tests.cassette.redaction.secret_shapes import SHAPES

PIECES = (
    *(b'data: {"delta":"', b'word "}', b"sk-pro", b'"}\n\n', b"\n\n", b"\r\n\r\n", b"\n", b"\r"),
    *(
        b'"signature":"',
        b'abcdefgh12345678"',
        b'"user":"',
        b'"role":"user"',
        b"{",
        b"}",
        b",",
        b":",
    ),
    *(
        b'"type":"redacted_thinking","data":"',
        b'"data"',
        b'"access_token"',
        b"\n\n: ",
        b'\\"',
        b'"',
    ),
    *(shape.encode() for shape in SHAPES.values()),
)
BODIES = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
SIZES = st.lists(st.integers(0, 40), min_size=1, max_size=8)
HEADS = st.sampled_from(("text/event-stream", "application/x-ndjson", "application/json", ""))


@given(BODIES)
def test_secrets_are_looked_for_only_where_a_key_names_one(body: bytes) -> None:
    walk = _JsonWalk()
    for token in _TOKEN.finditer(body):
        walk.take(token)
    walk.finish()
    assert secret_spans(body) == sorted(walk.found)


@given(BODIES, SIZES, HEADS)
def test_chunks_that_are_plain_pass_together(body: bytes, sizes: list[int], kind: str) -> None:
    chunks: list[Chunk] = []
    at = 0
    while at < len(body):
        size = sizes[len(chunks) % len(sizes)]
        sizes = sizes if any(sizes) else [7]
        chunks.append(Chunk(body[at : at + size], float(at)))
        at += size
    response = Response(200, headers=(("content-type", kind),))
    one, other = Redactor(), Redactor()
    other._placeholders = one._placeholders  # stand-ins differ from one redactor to the next
    streaming, together = BodyRedactor(one, response), BodyRedactor(other, response)
    single = [done for chunk in chunks for done in streaming.feed(chunk)] + streaming.close()
    assert [*together.feed_all(chunks), *together.close()] == single
    assert one.counts() == other.counts()
