"""Messages of an AWS event stream: bytes in, one frame a message out, and messages back to bytes.

The format (https://smithy.io/2.0/aws/amazon-eventstream.html), all numbers big-endian:

    4  length of the whole message
    4  length of its headers
    4  CRC-32 of these two, the prelude
       headers: 1 length of the name, the name, 1 type, the value
       payload
    4  CRC-32 of everything before it

Rule 1: a message that is as it should be yields a frame of kind `binary`: `event` is what its
`:event-type`, `:exception-type` or `:error-code` says, `headers` are all of its headers, `data` is
its payload.
Rule 2: a payload `{"bytes": ...}` wraps one event of another API (`invoke-with-response-stream` of
Bedrock): `data` is what it wraps in base64, for that is what a client is given.
Rule 3: what a client cannot use yields a frame of kind `ignored-binary`, and `event` says why:
`bad-checksum` and `bad-headers` for one message, `bad-utf8` before the message itself, whose broken
bytes are U+FFFD. `bad-prelude` and `too-long` end the stream: nothing shows where the next message
begins. `unfinished` is a last message that was cut.
Rule 4: frames depend on the bytes alone, never on how they were cut into chunks.
Rule 5: time is linear in the bytes; memory is a small multiple of the longest message or chunk.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Final
from uuid import UUID
from zlib import crc32

from conformance.core.errors import HarnessError
from conformance.core.events import Frame, HeaderValue
from conformance.core.json_values import decode_json

MOST_MESSAGE_BYTES: Final = (24 * 1024 + 128) * 1024 + 16
"""What AWS allows: 24 MiB of payload, 128 KiB of headers."""
MESSAGE_TYPE: Final = ":message-type"
EVENT_TYPE: Final = ":event-type"
EXCEPTION_TYPE: Final = ":exception-type"
TYPE_HEADERS: Final = (EVENT_TYPE, EXCEPTION_TYPE, ":error-code")
"""Which header names what a message is, by its `:message-type`: event, exception, error."""

_PRELUDE: Final = struct.Struct(">II")
_CHECKSUM: Final = struct.Struct(">I")
_HEAD: Final = _PRELUDE.size + _CHECKSUM.size
_LEAST: Final = _HEAD + _CHECKSUM.size
_SIZE: Final = struct.Struct(">H")
_TRUE, _FALSE, _BYTES, _TEXT, _UUID = 0, 1, 6, 7, 9
_NUMBERS: Final[Mapping[int, struct.Struct]] = {
    2: struct.Struct(">b"),
    3: struct.Struct(">h"),
    4: struct.Struct(">i"),
    5: struct.Struct(">q"),
    8: struct.Struct(">q"),  # a time, in milliseconds since 1970
}


class MessageParser:
    """Parses one stream, incrementally and without I/O. Input is never refused."""

    def __init__(self, *, max_message_bytes: int = MOST_MESSAGE_BYTES) -> None:
        self._max = max_message_bytes
        self._closed = False
        self._is_lost = False  # nothing shows where the next message begins
        self._rest = bytearray()  # the message that has not ended yet
        self._wanted = _HEAD  # bytes of it that are needed to go on
        self._offset = 0  # where it begins

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that these bytes complete. Raises HarnessError after `close`."""
        if self._closed:
            raise HarnessError("a parser of messages was fed after close")
        frames: list[Frame] = []
        self._rest += data
        start = 0
        while len(self._rest) - start >= self._wanted:
            start = self._take_next(start, frames)
        del self._rest[:start]
        return frames

    def close(self) -> list[Frame]:
        """End the stream: a message that was cut is reported. A second call yields none."""
        self._closed = True
        came, self._rest = len(self._rest), bytearray()
        if not came or self._is_lost:
            return []
        whole = f"of {self._wanted} bytes" if self._wanted > _HEAD else "bytes of a prelude"
        return [Frame("ignored-binary", "unfinished", f"{came} {whole}", "", self._offset)]

    def _take_next(self, start: int, frames: list[Frame]) -> int:
        """Looks at the prelude, then at the whole message; where the next look begins."""
        if self._is_lost:
            return len(self._rest)
        if self._wanted == _HEAD:
            self._wanted = self._read_prelude(start, frames)
            return start
        message = bytes(self._rest[start : start + self._wanted])
        frames.extend(_frames_of(message, self._offset))
        start += self._wanted
        self._offset += self._wanted
        self._wanted = _HEAD
        return start

    def _read_prelude(self, start: int, frames: list[Frame]) -> int:
        """The length of the message; gives the stream up where it cannot be known."""
        prelude = bytes(self._rest[start : start + _HEAD])
        length, headers = _PRELUDE.unpack_from(prelude)
        stated = _CHECKSUM.unpack_from(prelude, _PRELUDE.size)[0]
        reason = ""
        if crc32(prelude[: _PRELUDE.size]) != stated or length < _LEAST + headers:
            reason = "bad-prelude"
        elif length > self._max:
            reason = "too-long"
        if reason:
            self._is_lost = True
            frames.append(Frame("ignored-binary", reason, "", "", self._offset))
        return 1 if reason else int(length)


def encode_message(headers: Sequence[tuple[str, str]], payload: bytes) -> bytes:
    return _assemble_message(b"".join(starmap(_text_header, headers)), payload)


def read_text_message(data: bytes, start: int) -> tuple[dict[str, str], str, int] | None:
    """Headers, payload and length of the message that begins there.

    None where it is not whole, or more than texts that can be put together to the same bytes.
    """
    if len(data) - start < _LEAST:
        return None
    length = int(_PRELUDE.unpack_from(data, start)[0])
    message = data[start : start + length]
    if not _LEAST <= len(message) == length <= MOST_MESSAGE_BYTES:
        return None
    frames = list(_frames_of(message, 0)) if _is_intact(message) else []
    headers = dict(frames[0].headers) if frames and frames[0].kind == "binary" else {}
    texts = {name: value for name, value in headers.items() if isinstance(value, str)}
    try:
        payload = _split_message(message)[1].decode()
    except UnicodeDecodeError:
        return None
    is_same = encode_message(tuple(texts.items()), payload.encode()) == message
    return (texts, payload, length) if is_same else None


def message_length(data: bytes, start: int) -> int:
    """The length that the message there states; 0 where there is none, or not enough of it."""
    if len(data) - start < _HEAD:
        return 0
    length, headers = _PRELUDE.unpack_from(data, start)
    stated = _CHECKSUM.unpack_from(data, start + _PRELUDE.size)[0]
    is_sound = crc32(data[start : start + _PRELUDE.size]) == stated
    return int(length) if is_sound and _LEAST + headers <= length <= MOST_MESSAGE_BYTES else 0


def event_text(message: bytes) -> bytes:
    """What a whole message says: its payload, or what that wraps."""
    payload = _split_message(message)[1]
    wrapped = _wrapped_event(payload)
    return payload if wrapped is None else base64.b64decode(wrapped)


def with_event_text(message: bytes, text: bytes) -> bytes:
    """A whole message that says something else: headers and wrapping keep their bytes.

    A wrong checksum stays wrong by the same bits.
    """
    headers, payload = _split_message(message)
    wrapped = _wrapped_event(payload)
    if wrapped is not None:
        text = payload.replace(wrapped, base64.b64encode(text), 1)
    return _reassemble(message, headers, text)


def with_clean_frame(message: bytes, clean: Callable[[bytes], bytes]) -> bytes:
    """A whole message with everything except its event put through `clean`, which keeps lengths.

    `clean` gets the name and text of each header, and what a wrapping holds around the event. A
    wrong checksum stays wrong by the same bits.
    """
    headers, payload = _split_message(message)
    try:
        made = b"".join(_clean_header(raw, clean) for _, raw in _header_bytes(headers))
    except (IndexError, struct.error, ValueError):
        made = clean(headers)
    wrapped = _wrapped_event(payload)
    if wrapped is not None:
        before, after = payload.split(wrapped, 1)
        around = clean(before + bytes(len(wrapped)) + after)
        payload = around[: len(before)] + wrapped + around[len(before) + len(wrapped) :]
    is_clean = made + payload == b"".join(_split_message(message))
    return message if is_clean else _reassemble(message, made, payload)


def with_text_header(message: bytes, name: str, value: str) -> bytes:
    """A whole message with one text header replaced in place, appended, or removed."""
    headers, payload = _split_message(message)
    made = dict(_header_bytes(headers))
    made[name] = _text_header(name, value) if value else b""
    return _assemble_message(b"".join(made.values()), payload)


def _frames_of(message: bytes, offset: int) -> Iterator[Frame]:
    if not _is_intact(message):
        yield Frame("ignored-binary", "bad-checksum", "", "", offset)
        return
    try:
        headers = tuple(_read_headers(_split_message(message)[0]))
    except (struct.error, IndexError, UnicodeDecodeError, ValueError):
        yield Frame("ignored-binary", "bad-headers", "", "", offset)
        return
    data = event_text(message)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        yield Frame("ignored-binary", "bad-utf8", text, "", offset)
    named = (value for name, value in headers if name in TYPE_HEADERS and isinstance(value, str))
    kind = next(named, "")
    yield Frame("binary", kind, text, "", offset, named=bool(kind), headers=headers)


def _is_intact(message: bytes) -> bool:
    """Whether both checksums of a whole message are right."""
    places = (_PRELUDE.size, len(message) - _CHECKSUM.size)
    return all(_CHECKSUM.unpack_from(message, at)[0] == crc32(message[:at]) for at in places)


def _split_message(message: bytes) -> tuple[bytes, bytes]:
    """Headers and payload of a whole message."""
    stop = _HEAD + int(_PRELUDE.unpack_from(message)[1])
    return message[_HEAD:stop], message[stop : -_CHECKSUM.size]


def _read_headers(raw: bytes) -> Iterator[tuple[str, HeaderValue]]:
    """Names and values. Raises what broken layout raises."""
    for name, header in _header_bytes(raw):
        at = 1 + header[0]
        yield name, _header_value(header[at], header[at + 1 :])


def _header_bytes(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each header. Raises what broken layout raises."""
    start = 0
    while start < len(raw):
        at = start + 1 + raw[start]
        size = _value_size(raw[at], raw, at + 1)
        stop = at + 1 + size
        if stop > len(raw):
            raise ValueError
        yield raw[start + 1 : at].decode(), raw[start:stop]
        start = stop


def _value_size(kind: int, raw: bytes, at: int) -> int:
    if kind in (_TRUE, _FALSE):
        return 0
    if kind in (_BYTES, _TEXT):
        return _SIZE.size + int(_SIZE.unpack_from(raw, at)[0])
    if kind == _UUID:
        return 16
    if kind not in _NUMBERS:
        raise ValueError
    return _NUMBERS[kind].size


def _header_value(kind: int, value: bytes) -> HeaderValue:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE
    if kind == _TEXT:
        return value[_SIZE.size :].decode()
    if kind == _BYTES:
        return base64.b64encode(value[_SIZE.size :]).decode()
    if kind == _UUID:
        return str(UUID(bytes=value))
    return int(_NUMBERS[kind].unpack(value)[0])


def _wrapped_event(payload: bytes) -> bytes | None:
    """The base64 of the event that a payload wraps, unchanged; None where it wraps none."""
    if b'"bytes"' not in payload:
        return None
    fields = decode_json(payload.decode("utf-8", "replace"))
    value = fields.get("bytes") if isinstance(fields, dict) else None
    wrapped = value.encode() if isinstance(value, str) else b""
    try:
        is_base64 = bool(wrapped) and bool(base64.b64decode(wrapped, validate=True))
    except ValueError:
        return None
    return wrapped if is_base64 and wrapped in payload else None


def _clean_header(raw: bytes, clean: Callable[[bytes], bytes]) -> bytes:
    at = 1 + raw[0]
    start = at + 1 + (_SIZE.size if raw[at] in (_BYTES, _TEXT) else 0)
    return raw[:1] + clean(raw[1:at]) + raw[at:start] + clean(raw[start:])


def _text_header(name: str, value: str) -> bytes:
    named, text = name.encode(), value.encode()
    return bytes((len(named),)) + named + bytes((_TEXT,)) + _SIZE.pack(len(text)) + text


def _reassemble(message: bytes, headers: bytes, payload: bytes) -> bytes:
    """The message with these headers and this payload, its last checksum as wrong as it was."""
    made, whole = _assemble_message(headers, payload), _assemble_message(*_split_message(message))
    flaw = _CHECKSUM.unpack(whole[-4:])[0] ^ _CHECKSUM.unpack(message[-4:])[0]
    return made[:-4] + _CHECKSUM.pack(_CHECKSUM.unpack(made[-4:])[0] ^ flaw)


def _assemble_message(headers: bytes, payload: bytes) -> bytes:
    length = _HEAD + len(headers) + len(payload) + _CHECKSUM.size
    prelude = _PRELUDE.pack(length, len(headers))
    head = prelude + _CHECKSUM.pack(crc32(prelude)) + headers + payload
    return head + _CHECKSUM.pack(crc32(head))
