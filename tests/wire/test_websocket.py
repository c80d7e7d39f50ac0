"""Frames of WebSockets: whatever is cut wherever comes back whole, and faults have their codes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from conformance.core.events import Side
from conformance.wire.socket_parts import SocketPart
from conformance.wire.websocket import SocketReader, close_frame, control_frame, message_frames

SIDES = st.sampled_from(["client", "server"])
MESSAGES = st.lists(
    st.tuples(st.sampled_from(["text", "binary"]), st.text(max_size=300), st.integers(1, 50)),
    max_size=5,
)


def read(data: bytes, side: Side = "client", **knobs: bool | int) -> tuple[list[SocketPart], int]:
    """What a reader gives of bytes, and the code of its fault (0: none)."""
    reader = SocketReader(side, **knobs)  # type: ignore[arg-type]
    return list(reader.feed(data)), reader.fault.code if reader.fault else 0


@given(SIDES, MESSAGES, st.lists(st.integers(1, 40), min_size=1))
def test_messages_come_back_however_they_are_framed_and_cut(
    side: Side, messages: list[tuple[str, str, int]], sizes: list[int]
) -> None:
    wire, expected = b"", []
    for kind, text, size in messages:
        data = text.encode()
        pieces = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
        first, *others = message_frames(kind, pieces, side)  # type: ignore[arg-type]
        # A control frame may stand between two fragments.
        wire += first + control_frame("ping", b"alive", side) + b"".join(others)
        here = [SocketPart(kind, data), SocketPart("ping", b"alive")]  # type: ignore[arg-type]
        expected += here if not others else here[::-1]
    wire += close_frame(1001, "bye", side)
    reader, found, at = SocketReader(side, checks_text=True), list[SocketPart](), 0
    while at < len(wire):
        size = sizes[at % len(sizes)]
        found += reader.feed(wire[at : at + size])
        at += size
    assert found == [*expected, SocketPart("close", b"bye", 1001)]
    assert reader.is_closed
    assert reader.fault is None


def unmasked(data: bytes) -> bytes:
    return b"".join(message_frames("text", [data], "server"))


def masked(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


def deflated() -> bytes:
    bomb = Frame(Opcode.TEXT, bytes(1_000_000))
    return bomb.serialize(mask=True, extensions=[PerMessageDeflate(False, False, 15, 15)])


FAULTS = [
    ("a client that masks nothing", unmasked(b"{}"), 1002),
    ("a compressed bomb, as nothing is negotiated", deflated(), 1002),
    ("an opcode that nobody knows", b"\x83\x80mask", 1002),
    ("a ping of 126 bytes", b"\x89\xfe\x00\x7emask" + bytes(126), 1002),
    ("a ping in two fragments", masked(Opcode.TEXT, b"", fin=False) + b"\x09\x80mask", 1002),
    ("a message inside another", masked(Opcode.TEXT, b"a", fin=False) * 2, 1002),
    ("a continuation of nothing", masked(Opcode.CONT, b"a"), 1002),
    ("a close of one byte", masked(Opcode.CLOSE, b"a"), 1002),
    ("a close with a code that none may send", masked(Opcode.CLOSE, b"\x03\xed"), 1002),
    ("a reason that is no UTF-8", masked(Opcode.CLOSE, b"\x03\xe8\xff"), 1007),
    ("a text that is no UTF-8", masked(Opcode.TEXT, b"\xff"), 1007),
    ("a frame that announces 9 EB", b"\x81\xff" + struct.pack("!Q", 2**63 - 1), 1009),
    ("a frame over the bound", masked(Opcode.BINARY, bytes(2001)), 1009),
    ("fragments over the bound", masked(Opcode.BINARY, bytes(1500), fin=False)
     + masked(Opcode.CONT, bytes(1500)), 1009),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "code"), [(d, c) for _, d, c in FAULTS], ids=[n for n, *_ in FAULTS]
)
def test_a_fault_has_its_code_and_what_came_before_is_given_out(data: bytes, code: int) -> None:
    first = b"".join(message_frames("text", [b"first"], "client"))
    found, fault = read(first + data, most=2000, checks_text=True)
    assert fault == code
    assert found[0] == SocketPart("text", b"first")


def test_empty_fragments_without_end_hold_nothing() -> None:
    reader = SocketReader("client")
    for _ in range(1000):
        assert not list(reader.feed(masked(Opcode.TEXT, b"", fin=False)[:6]))
        break
    for _ in range(1000):
        assert not list(reader.feed(masked(Opcode.CONT, b"", fin=False)))
    assert reader.held == 0


def test_a_recorder_keeps_a_text_that_is_no_text() -> None:
    assert read(masked(Opcode.TEXT, b"\xff")) == ([SocketPart("text", b"\xff")], 0)


def test_a_reader_knows_whether_it_stands_between_two_frames() -> None:
    reader, data = SocketReader("client"), masked(Opcode.TEXT, b"abc")
    known = []
    for byte in data:
        list(reader.feed(bytes([byte])))
        known.append(reader.is_between_frames)
    assert known == [False] * (len(data) - 1) + [True]


def test_a_close_without_a_code() -> None:
    assert read(close_frame(1005, "ignored", "client")) == ([SocketPart("close", b"", 1005)], 0)


def test_a_long_reason_is_cut_at_a_character() -> None:
    ((part,), _) = read(close_frame(1008, "é" * 100, "client"))
    assert part.data.decode() == "é" * 61
