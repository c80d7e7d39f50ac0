"""The run's own keys stand nowhere in what is kept, however a server sends them back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conformance.cassette import Redactor
from conformance.cassette.redaction.own_keys import remember_keys
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.excerpts import redacted

KEY = "my-own-kind-of-key"
KEYS = (f"Bearer {KEY}", KEY)


@given(
    st.lists(st.sampled_from([KEY, "x", "my-own-", "\n\n", "é"]), max_size=12),
    st.lists(st.integers(0), max_size=9),
)
def test_no_chunking_hides_a_key(pieces: list[str], places: list[int]) -> None:
    remember_keys(KEYS)
    body = "".join(pieces).encode()
    ends = sorted({place % (len(body) + 1) for place in places} | {len(body)})
    cut = [body[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    exchange = Exchange(chunks=tuple(Chunk(each, 1.0) for each in cut))
    clean = Redactor().exchange(exchange)
    assert [len(chunk.data) for chunk in clean.chunks] == [len(each) for each in cut]
    assert KEY.encode() not in b"".join(chunk.data for chunk in clean.chunks)


def test_headers_and_lines_are_cleaned() -> None:
    remember_keys(KEYS)
    clean_line = redacted
    response = Response(200, "1.1", (("server", f"got {KEY}"), (f"x-{KEY}", "1")))
    assert KEY not in str(Redactor().exchange(Exchange(response=response)).response)
    assert KEY not in clean_line(f"HTTP 401: {KEY!r} is no key")
    assert "sk-proj-" + "a1" * 12 not in clean_line("wrong key sk-proj-" + "a1" * 12)


def test_short_keys_are_left_alone() -> None:
    remember_keys(["Bearer x"])
    assert redacted("an x here") == "an x here"
