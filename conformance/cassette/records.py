"""One line of a cassette, decoded and checked by itself.

A line is of the kind whose key it has: `cassette` (the header), `request`, `response`, `end`,
`seen`, `text`, `hex` or `message` (data), `redactions` (a trailer). Other kinds and unknown keys
are skipped. A data line with `from` begins a message of a WebSocket: `client` or `server` sent it.
`request` and `response` may be null: the exchange had one, but it was not recorded.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from conformance.cassette.header import MAJOR, VERSION, Header, Redaction
from conformance.cassette.source import RawLine
from conformance.core.binary import encode_message
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Ending, Request, Response, Side

# A thousand years in ms, and more exchanges than one file can hold: sums stay finite.
Milliseconds = Annotated[float, Meta(ge=0, le=3.2e13)]
_Number = Annotated[int, Meta(ge=1, le=1_000_000_000)]
_Count = Annotated[int, Meta(ge=0)]
_CloseCode = Annotated[int, Meta(ge=1000, le=4999)]
_Version = Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")]


class BinaryMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A message of an AWS event stream: its lengths and checksums follow from the rest."""

    headers: dict[str, str]
    payload: str


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Every key that a line of any kind may have."""

    side: Side | None = msgspec.field(default=None, name="from")
    cassette: _Version | UnsetType = UNSET
    request: Request | UnsetType | None = UNSET
    response: Response | UnsetType | None = UNSET
    end: Ending | UnsetType = UNSET
    seen: tuple[dict[str, Any], ...] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    hex: str | UnsetType = UNSET
    message: BinaryMessage | UnsetType = UNSET
    redactions: tuple[Redaction, ...] | UnsetType = UNSET
    ms: Milliseconds | UnsetType | None = UNSET
    exchange: _Number | None = None
    dialect: str | None = None
    scenario: str = ""
    role: str = ""
    hop: Literal["upstream", "downstream", "app", ""] = ""
    after: _Number | None = None
    user_choices: dict[str, Any] | None = None
    chunks: _Count | None = None
    bytes: _Count | None = None
    sha256: str | None = None
    touched: tuple[str, ...] = ()
    close_code: _CloseCode | None = None

    def kinds(self) -> list[str]:
        return [kind for kind in _KINDS if getattr(self, kind) is not UNSET]


class Plain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A data line of `text` and perhaps `ms` and nothing else, as nearly all are."""

    text: str
    ms: Milliseconds | UnsetType | None = UNSET


_KINDS: Final = (
    *("cassette", "request", "response", "end", "seen", "text", "hex", "message", "redactions"),
)
_HEADER_KEYS: Final = frozenset(Header.__struct_fields__) - {"version", "extra"}
_RECORD: Final = msgspec.json.Decoder(Record)
_PLAIN: Final = msgspec.json.Decoder(list[Plain])
_PLAIN_BEGINNINGS: Final = (b'{"ms":', b'{"text":')
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_BYTE: Final = re.compile(r" \(byte (\d+)\)$")
_SHOWN: Final = 200


def parse_record(file: str, line: RawLine) -> Record:
    """The line's record. Raises CassetteError with line and column."""
    record: Record = _decode_fields(_RECORD, file, line)
    return record


def plain_extent(lines: Sequence[bytes], at: int) -> int:
    """The index after the last of the lines from `at` on that look plain."""
    end = len(lines)
    while at < end and lines[at].startswith(_PLAIN_BEGINNINGS):
        at += 1
    return at


def decode_plain(lines: Sequence[bytes]) -> list[Plain] | None:
    """The values of the lines, decoded at once; None unless each of them is plain.

    They are decoded as one JSON array with a raw line feed after each comma. Every line begins an
    object with a key, so a value cannot continue over a line end; a line with two values would give
    one too many.
    """
    try:
        found: list[Plain] = _PLAIN.decode(b"[" + b",\n".join(lines) + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if len(found) == len(lines) else None


def is_whole(data: bytes) -> bool:
    """Whether this is a whole JSON value (or nested too deep to know), and so no cut line."""
    try:
        msgspec.json.decode(data)
    except (msgspec.ValidationError, RecursionError):
        return True
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def parse_header(file: str, line: RawLine) -> Header:
    """The header that the first line holds. Raises CassetteError, also for a newer format."""
    known: dict[str, Any] = _decode_fields(_OBJECT, file, line)
    if "cassette" not in known:
        raise fault(file, line, "expected a cassette header, got another object")
    version = known.pop("cassette")
    _check_version(file, line, version)
    extra = {key: known.pop(key) for key in list(known) if key not in _HEADER_KEYS}
    try:
        return msgspec.convert({**known, "version": version, "extra": extra}, Header)
    except msgspec.ValidationError as err:
        raise fault(file, line, _lower_names(err)) from err


def payload(file: str, line: RawLine, record: Record) -> bytes:
    if isinstance(record.text, str):
        return record.text.encode()
    if isinstance(record.message, BinaryMessage):
        return _message_bytes(file, line, record.message)
    try:
        return binascii.unhexlify(str(record.hex))
    except ValueError as err:  # binascii.Error is one
        raise fault(file, line, "expected pairs of hexadecimal digits in `hex`") from err


def _message_bytes(file: str, line: RawLine, message: BinaryMessage) -> bytes:
    try:
        return encode_message(tuple(message.headers.items()), message.payload.encode())
    except (ValueError, struct.error) as err:  # names and values have their own limits
        raise fault(file, line, "expected headers of less than 256 and 65,536 bytes") from err


def fault(file: str, line: RawLine, message: str, *, column: int | None = None) -> CassetteError:
    shown = line.data[:_SHOWN].decode("utf-8", "replace")
    return CassetteError(message, place=Place(file, line.number, column), text=shown)


def header_fields(header: Header) -> dict[str, Any]:
    """The header as the object of its line, without empty values."""
    fields = asdict(header)
    version, extra = fields.pop("version"), fields.pop("extra")
    fields["redactions"] = [asdict(r) for r in header.redactions]
    return {"cassette": version, **{k: v for k, v in fields.items() if v}, **extra}


def _check_version(file: str, line: RawLine, version: object) -> None:
    match = re.fullmatch(r"([0-9]{1,4})\.[0-9]{1,4}", version) if isinstance(version, str) else None
    if match is None:
        raise fault(file, line, f"expected a format version such as {VERSION!r}, got {version!r}")
    if int(match[1]) != MAJOR:
        reads = f"this version reads format {MAJOR}"
        raise fault(file, line, f"the cassette has format {version}; {reads}")


def _decode_fields(decoder: msgspec.json.Decoder[Any], file: str, line: RawLine) -> Any:
    try:
        return decoder.decode(line.data)
    except RecursionError as err:
        raise fault(file, line, "the JSON is nested too deeply") from err
    except msgspec.ValidationError as err:
        raise fault(file, line, _lower_names(err)) from err
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        if (bad := _bad_byte(line.data)) is not None:  # since msgspec 0.23 a DecodeError, too
            raise fault(file, line, "not UTF-8", column=bad) from err
        message = str(err)
        at = _BYTE.search(message)
        if at:
            text = message.removeprefix("JSON is malformed: ")[: -len(at[0])]
            raise fault(file, line, f"broken JSON: {text}", column=int(at[1]) + 1) from err
        # The decoder calls half a surrogate pair truncated, too.
        text = "broken JSON: the value does not end on this line, or half a surrogate pair is in it"
        raise fault(file, line, text, column=len(line.data) + 1) from err


def _lower_names(err: msgspec.ValidationError) -> str:
    message = str(err)
    return message[:1].lower() + message[1:].replace(" - at `$.", " at `")


def _bad_byte(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as err:
        return err.start + 1
    return None
