"""Blocks of `curl --trace` and `--trace-ascii`: what was sent and received, byte by byte.

    12:34:56.789012 <= Recv data, 69 bytes (0x45)
    0000: 34 30 0d 0a 64 61 74 61 3a 20 7b 22 69 64 22 3a 40..data: {"id":

`--trace-time` adds the time, `--trace-ids` an id in brackets. `--trace-ascii` has no hexadecimal
digits: a line of the file ends at CR LF, and `.` replaces every other line feed and every byte that
is not printable ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from conformance.cassette.importers import ForeignFile

BEGINNING: Final = re.compile(
    rb"(?:\d\d:\d\d:\d\d\.\d{1,9} )?(?:\[[^\]\r\n]{1,40}\] )?"
    rb"(?:== Info:|(?:=> Send|<= Recv) (?:SSL )?(?:header|data), \d+ bytes)"
)
_TITLE: Final = re.compile(
    rb"(?:(\d\d):(\d\d):(\d\d\.\d{1,9}) )?(\[[^\]\r\n]{1,40}\] )?"
    rb"(?:(== Info:)([^\r\n]*)|((?:=> Send|<= Recv) (?:SSL )?(?:header|data)), (\d{1,9}) bytes)"
)
_OFFSET: Final = re.compile(rb"([0-9a-f]{4,8}): ")
_HEX: Final = re.compile(rb"(?:[0-9a-f]{2} ){1,16} *")
_COLUMNS: Final = 16  # bytes on a line with hexadecimal digits
_TEXT_FROM: Final = 3 * _COLUMNS
_CRLF: Final = b"\r\n"
_DAY: Final = 86_400_000.0  # ms
_KINDS: Final = {
    b"=> Send header": "request head",
    b"=> Send data": "request body",
    b"<= Recv header": "response head",
    b"<= Recv data": "response body",
}


class TraceBlock(NamedTuple):
    """One block: its 1-based line, its kind, its side, its bytes, and its time of day.

    `kind` is one of `request head`, `request body`, `response head`, `response body`, `info` (a
    message of curl) and empty for encrypted data. `ms` is None if there is no time; `plain` if
    every byte is known.
    """

    line: int
    kind: str
    transfer: bytes
    data: bytes
    ms: float | None
    plain: bool


def read_blocks(file: ForeignFile) -> Iterator[TraceBlock]:
    """The blocks of a trace, in their order. Raises CassetteError with the line that is none."""
    lines = file.data.split(b"\n")
    at, days, before = 0, 0.0, 0.0
    while at < len(lines):
        title = _TITLE.match(lines[at])
        if title is None:
            if lines[at].strip():
                raise file.error("expected a block of a curl trace", at + 1)
            at += 1
            continue
        stop = at + 1
        while stop < len(lines) and _OFFSET.match(lines[stop]):
            stop += 1
        ms = _time_of_day(title)
        if ms is not None:
            days += _DAY if ms < before else 0.0  # it went on after midnight
            before = ms
        data, plain = _block_bytes(file, title, lines, at, stop)
        kind = "info" if title[5] else _KINDS.get(title[7], "")
        moment = None if ms is None else ms + days
        yield TraceBlock(at + 1, kind, title[4] or b"", data, moment, plain)
        at = stop


def _time_of_day(title: re.Match[bytes]) -> float | None:
    if title[1] is None:
        return None
    return (int(title[1]) * 3600 + int(title[2]) * 60 + float(title[3])) * 1e3


def _block_bytes(
    file: ForeignFile, title: re.Match[bytes], lines: list[bytes], at: int, stop: int
) -> tuple[bytes, bool]:
    """The bytes of the block whose title is line `at`, and whether each of them is known.

    Only the last block of a file may be shorter than its title says.
    """
    if title[5]:
        return title[6].strip(), True
    size, found, plain = int(title[8]), bytearray(), True
    for number in range(at + 1, stop):
        line = lines[number]
        offset = _OFFSET.match(line)
        assert offset is not None
        shown = line[offset.end() :].removesuffix(b"\r")
        start = int(offset[1], 16)
        if start == len(found) + len(_CRLF):
            found += _CRLF
        if start != len(found):
            raise file.error(f"expected byte {len(found):04x} of the block", number + 1)
        digits = _hex_bytes(shown, size - start)
        if digits is None and len(shown) > size - start:
            expected = min(_COLUMNS, max(size - start, 0))
            raise file.error(f"expected {expected} bytes in hexadecimal digits", number + 1)
        plain = plain and digits is not None
        found += shown if digits is None else digits
    if len(found) + len(_CRLF) == size and not plain:
        found += _CRLF
    # Only one more look is needed: after a short block comes nothing, or an error.
    if len(found) > size or (len(found) < size and any(map(bytes.strip, lines[stop:]))):
        raise file.error(f"expected {size} bytes, got {len(found)}", at + 1)
    return bytes(found), plain


def _hex_bytes(shown: bytes, left: int) -> bytes | None:
    """The bytes of a line with hexadecimal digits before the text; None for one without."""
    count = min(left, _COLUMNS)
    if count <= 0 or len(shown) != _TEXT_FROM + count:
        return None
    digits = shown[: 3 * count]
    return bytes.fromhex(digits.decode()) if _HEX.fullmatch(digits) else None
