"""Messages of AWS event streams: what is read does not depend on cuts, and flaws have a place."""

from __future__ import annotations

import base64
import json
import struct
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.binary import (
    MessageParser,
    encode_message,
    event_text,
    message_length,
    read_text_message,
    with_clean_frame,
    with_event_text,
    with_text_header,
)
from conformance.core.errors import HarnessError
from conformance.core.events import Chunk, Exchange, Frame, Response
from conformance.core.framing import Framer, framing_of

NAMES = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=20)
HEADERS = st.dictionaries(NAMES, st.text(max_size=30), max_size=5)
MESSAGES = st.builds(
    lambda h, p: encode_message(tuple(h.items()), p), HEADERS, st.binary(max_size=80)
)


def event(kind: str, payload: object) -> bytes:
    headers = ((":event-type", kind), (":message-type", "event"))
    return encode_message(headers, json.dumps(payload).encode())


def frames(*pieces: bytes) -> list[Frame]:
    parser = MessageParser()
    return [*(frame for piece in pieces for frame in parser.feed(piece)), *parser.close()]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]


FIRST, SECOND = event("messageStart", {"role": "assistant"}), event("metadata", {"n": 1})


@given(st.lists(MESSAGES, max_size=5), st.binary(max_size=30), st.data())
def test_cuts_change_no_frames(messages: list[bytes], rest: bytes, data: st.DataObject) -> None:
    body = b"".join(messages) + rest
    places = st.integers(0, len(body))
    cuts = sorted(data.draw(st.lists(places, max_size=8)))
    pieces = [body[a:b] for a, b in pairwise([0, *cuts, len(body)])]
    assert frames(*pieces) == frames(body)
    assert frames(*(body[at : at + 1] for at in range(len(body)))) == frames(body)


@given(HEADERS, st.text(max_size=80))
def test_a_message_of_texts_comes_back(headers: dict[str, str], payload: str) -> None:
    data = encode_message(tuple(headers.items()), payload.encode())
    assert read_text_message(data, 0) == (headers, payload, len(data))
    assert message_length(data, 0) == len(data)


@given(st.binary(max_size=200))
def test_no_input_is_refused(data: bytes) -> None:
    frames(data)
    read_text_message(data, 0)


def test_offsets_and_types() -> None:
    found = frames(FIRST, SECOND)
    assert [(each.kind, each.event, each.offset) for each in found] == [
        ("binary", "messageStart", 0),
        ("binary", "metadata", len(FIRST)),
    ]
    assert dict(found[0].headers) == {":event-type": "messageStart", ":message-type": "event"}


def test_a_wrong_checksum_spoils_one_message() -> None:
    found = frames(flipped(FIRST, len(FIRST) - 6), SECOND)
    assert [(each.kind, each.event, each.offset) for each in found] == [
        ("ignored-binary", "bad-checksum", 0),
        ("binary", "metadata", len(FIRST)),
    ]


def test_after_a_wrong_length_nothing_can_be_read() -> None:
    found = frames(FIRST, flipped(SECOND, 3), FIRST)
    assert [(each.event, each.offset) for each in found] == [
        ("messageStart", 0),
        ("bad-prelude", len(FIRST)),
    ]


def test_a_message_that_was_cut_says_how_much_came() -> None:
    cut, short = frames(FIRST, SECOND[:20])[-1], frames(FIRST[:5])[-1]
    assert (cut.event, cut.data) == ("unfinished", f"20 of {len(SECOND)} bytes")
    assert (short.event, short.data) == ("unfinished", "5 bytes of a prelude")


def test_a_message_beyond_the_limit_ends_the_stream() -> None:
    parser = MessageParser(max_message_bytes=len(FIRST))
    longer = event("messageStart", {"role": "assistant", "p": "abc"})
    assert [each.event for each in parser.feed(FIRST + longer + FIRST)] == [
        "messageStart",
        "too-long",
    ]
    assert parser.close() == []


def test_headers_of_every_type() -> None:
    values = {
        "yes": b"\x00",
        "no": b"\x01",
        "byte": b"\x02\xff",
        "short": b"\x03\xff\xfe",
        "int": b"\x04" + struct.pack(">i", -3),
        "long": b"\x05" + struct.pack(">q", 2**40),
        "bytes": b"\x06\x00\x02\x01\x02",
        "text": b"\x07\x00\x02hi",
        "time": b"\x08" + struct.pack(">q", 1_700_000_000_000),
        "uuid": b"\x09" + bytes(range(16)),
    }
    raw = b"".join(bytes((len(n),)) + n.encode() + value for n, value in values.items())
    (found,) = frames(sealed(raw, b"{}"))
    assert dict(found.headers) == {
        "yes": True,
        "no": False,
        "byte": -1,
        "short": -2,
        "int": -3,
        "long": 2**40,
        "bytes": "AQI=",
        "text": "hi",
        "time": 1_700_000_000_000,
        "uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f",
    }
    assert read_text_message(sealed(raw, b"{}"), 0) is None


def sealed(headers: bytes, payload: bytes) -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return whole + struct.pack(">I", crc32(whole))


@pytest.mark.parametrize(
    "raw", [b"\x02ab", b"\x02ab\x4b", b"\x02ab\x07\x00\x09hi", b"\x02\xff\xfe\x00"]
)
def test_headers_that_cannot_be_read(raw: bytes) -> None:
    assert [each.event for each in frames(sealed(raw, b"{}"), SECOND)] == [
        "bad-headers",
        "metadata",
    ]


def test_broken_utf8_is_reported_before_the_message() -> None:
    found = frames(encode_message((), b'"\xc3("'))
    assert [(each.kind, each.event) for each in found] == [
        ("ignored-binary", "bad-utf8"),
        ("binary", ""),
    ]
    assert found[1].data == '"\N{REPLACEMENT CHARACTER}("'


def test_what_is_wrapped_is_what_is_reported() -> None:
    wrapped = {"bytes": base64.b64encode(b'{"type":"ping"}').decode(), "p": "abc"}
    message = event("chunk", wrapped)
    assert frames(message)[0].data == '{"type":"ping"}'
    edited = with_event_text(message, b'{"type":"pong"}')
    assert event_text(edited) == b'{"type":"pong"}'
    assert len(edited) == len(message)


def test_a_wrong_checksum_stays_wrong() -> None:
    broken = flipped(FIRST, len(FIRST) - 1)
    assert with_event_text(broken, event_text(FIRST)) == broken
    assert frames(with_event_text(broken, b"{}"))[0].event == "bad-checksum"
    assert frames(with_event_text(FIRST, b"{}"))[0].data == "{}"


def test_all_next_to_the_event_is_cleaned() -> None:
    wrapped = {"bytes": base64.b64encode(b'{"type":"ping"}').decode(), "p": "abc"}
    message = with_text_header(event("chunk", wrapped), "abc", "abc abc")
    for one in (message, flipped(message, len(message) - 1)):
        seen = with_clean_frame(one, lambda text: text.replace(b"abc", b"xyz"))
        assert len(seen) == len(one)
        assert seen.count(b"xyz") == 4
        assert b"abc" not in seen
        assert event_text(seen) == event_text(one)
        assert [each.kind for each in frames(seen)] == [each.kind for each in frames(one)]
        assert with_clean_frame(seen, lambda text: text.replace(b"xyz", b"abc")) == one


def test_headers_without_a_layout_are_cleaned_as_one() -> None:
    message = flipped(FIRST, 12)  # the length of the first header's name
    seen = with_clean_frame(message, lambda text: text.replace(b"event", b"xxxxx"))
    assert len(seen) == len(message)
    assert b"event-type" not in seen


def test_another_header() -> None:
    raised = with_text_header(with_text_header(FIRST, ":event-type", ""), ":exception-type", "x")
    assert dict(frames(raised)[0].headers) == {":message-type": "event", ":exception-type": "x"}


def test_nothing_is_fed_after_the_end() -> None:
    parser = MessageParser()
    parser.close()
    with pytest.raises(HarnessError):
        parser.feed(b"")


def test_the_content_type_or_the_first_byte_tells_the_framing() -> None:
    headers = (("content-type", "application/vnd.amazon.eventstream"),)
    assert framing_of(Exchange(response=Response(200, headers=headers))) == "binary"
    assert framing_of(Exchange(chunks=(Chunk(FIRST),))) == "binary"
    framer = Framer()
    assert [each.event for each in (*framer.feed(FIRST[:1]), *framer.feed(FIRST[1:]))] == [
        "messageStart"
    ]
