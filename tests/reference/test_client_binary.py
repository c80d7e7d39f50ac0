"""Messages of a binary stream: the client reads them as the toolkit does, and gives up earlier."""

from __future__ import annotations

import struct
from contextlib import suppress
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.binary import EVENT_TYPE, MESSAGE_TYPE, MessageParser, encode_message
from reference_impl.client.binary import MessageReader
from reference_impl.client.frame import BrokenStream, Frame, TooLong

GOOD = encode_message([(EVENT_TYPE, "messageStart"), (MESSAGE_TYPE, "event")], b'{"a":1}')
RAISED = encode_message(
    [(":exception-type", "throttlingException"), (MESSAGE_TYPE, "exception")], b"{}"
)
ERROR = encode_message([(":error-code", "500"), (MESSAGE_TYPE, "error")], b"")
FRAMES = [
    Frame("messageStart", '{"a":1}'),
    Frame("throttlingException", "{}", raised=True),
    Frame("500", "", raised=True),
]


def sealed(headers: bytes, payload: bytes = b"") -> bytes:
    """A message with these headers, right or not, and right checksums."""
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return head + struct.pack(">I", crc32(head))


@given(st.lists(st.integers(1, 40), max_size=20))
def test_messages_are_the_same_in_any_chunks(sizes: list[int]) -> None:
    data, reader, frames = GOOD + RAISED + ERROR, MessageReader(), list[Frame]()
    for size in sizes:
        frames += reader.feed(data[:size])
        data = data[size:]
    assert [*frames, *reader.feed(data), *reader.close()] == FRAMES


@given(st.binary(max_size=60), st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_what_is_read_is_what_the_toolkit_reads(data: bytes, at: int, bits: int) -> None:
    flawed = GOOD[:at] + bytes([GOOD[at] ^ bits]) + GOOD[at + 1 :]
    for given_bytes in (data, GOOD + data, flawed, sealed(data)):
        reader, frames = MessageReader(), list[Frame]()
        with suppress(BrokenStream):
            frames += reader.feed(given_bytes)
        parsed = [frame for frame in MessageParser().feed(given_bytes) if frame.kind == "binary"]
        assert [(frame.name, frame.data) for frame in frames] == [
            (frame.event or "message", frame.data) for frame in parsed
        ]


def test_every_type_of_header_is_passed_over() -> None:
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    headers = b"".join(bytes([1, 97, kind]) + bytes(size) for kind, size in sizes.items())
    texts = b"\x01b\x06\x00\x02\xff\xff" + b"\x0b:event-type\x07\x00\x01x"
    assert list(MessageReader().feed(sealed(headers + texts))) == [Frame("x", "")]


@pytest.mark.parametrize(
    ("flawed", "message"),
    [
        (GOOD[:4] + b"\x01" + GOOD[5:], "the checksum of a message's lengths is wrong"),
        (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), "the checksum of a message is wrong"),
        (sealed(b"\x01a\x0a"), "the headers of a message are broken"),
        (sealed(b"\x01a\x07\x00\x09x"), "the headers of a message are broken"),
    ],
)
def test_broken_message_ends_the_stream_after_earlier_ones(flawed: bytes, message: str) -> None:
    frames = MessageReader().feed(GOOD + flawed + GOOD)
    assert next(frames) == FRAMES[0]
    with pytest.raises(BrokenStream, match=message):
        next(frames)


def test_a_message_is_not_longer_than_its_bound() -> None:
    with pytest.raises(TooLong):
        list(MessageReader(most=len(GOOD) - 1).feed(GOOD))
