r"""What bytes of JSON, HTML or a URL say once they are decoded, and where each byte of that stands.

A character may be spelled as a JSON escape (in a string inside a string, too), in percent-encoding,
as an HTML entity or as `\x41`, punctuation after a backslash, and these inside one another. Linear
in the bytes. A backslash and a letter (`\n`) stay as they are: no key holds what they mean.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from conformance.cassette.redaction.placeholders import blank_out

_HEX: Final = rb"[0-9a-fA-F]"
_ESCAPE: Final = re.compile(
    rb"(?<!\\)\\++(?:u(?P<unit>%b{4})|x(?P<byte>%b{2})|(?P<short>[!-/:-@\[\]^_`{-~]))"
    rb"|%%(?:25)*+(?P<percent>%b{2})"
    rb"|&(?:amp;)*+(?:\#0*+(?P<decimal>[0-9]{1,7});|\#[xX]0*+(?P<code>%b{1,6});"
    rb"|(?P<name>[A-Za-z]{2,24});)" % ((_HEX,) * 4)
)
# An end that may continue as one of them.
_OPEN: Final = re.compile(
    rb"(?:(?<!\\)\\++(?:u%b{0,3}|x%b?)?|%%(?:25)*+%b?|&(?:amp;)*+(?:\#[xX]?%b{0,7}|[A-Za-z]{0,24}))\Z"
    % ((_HEX,) * 4)
)
_LONGEST_OPEN: Final = 64
_ROUNDS: Final = 3
_BASES: Final = {"decimal": 10, "code": 16, "unit": 16}
# Where one of these stands, a printable ASCII character may be spelled otherwise than as itself.
SIGNS: Final = r"\\(?:u00[2-7]|x[2-7]|[!#-&(-/:-@\[\]^_`{-~])|%[2-7][0-9a-fA-F]|&[#A-Za-z]"
_NUMBER: Final = re.compile(rb"[0-9]+")
_FILLED: Final = {1: b"8", 2: b"88", 3: b"120"}


class _DecodedRound(NamedTuple):
    """From byte `decoded[n]` of the text on, the raw one goes on at `raw[n]`."""

    decoded: array[int]
    raw: array[int]

    def place(self, at: int) -> int:
        mark = bisect_right(self.decoded, at) - 1
        return self.raw[mark] + at - self.decoded[mark]


class DecodedText(NamedTuple):
    """What a raw text means; `place` says where a byte of it begins in the raw one."""

    text: bytes
    rounds: tuple[_DecodedRound, ...] = ()

    def place(self, at: int) -> int:
        for each in reversed(self.rounds):
            at = each.place(at)
        return at

    def raw_span(self, start: int, stop: int) -> tuple[int, int]:
        return self.place(start), self.place(stop)


def decode_spellings(raw: bytes) -> DecodedText:
    """The text as it is meant, its bytes in UTF-8."""
    decoded = DecodedText(raw)
    for _ in range(_ROUNDS):
        again = _decode_once(decoded.text)
        if again is None:
            break
        decoded = DecodedText(again[0], (*decoded.rounds, again[1]))
    return decoded


def open_spelling(raw: bytes) -> int:
    """Where an end begins that may be part of an escape; the text's length where there is none."""
    match = _OPEN.search(raw, max(0, len(raw) - _LONGEST_OPEN))
    return match.start() if match else len(raw)


def decode_numbers(raw: bytes) -> DecodedText:
    """A list of byte values, such as `115, 107, 45`, as the text that it is."""
    found = list(_NUMBER.finditer(raw))
    text = bytes(min(int(match[0][:4]), 255) for match in found)
    starts = array("l", [*(match.start() for match in found), len(raw)])
    return DecodedText(text, (_DecodedRound(array("l", range(len(starts))), starts),))


def fill_numbers(raw: bytes) -> bytes:
    """Byte values that say nothing, each as long as the one in its place."""
    return _NUMBER.sub(lambda match: _FILLED.get(len(match[0]), b"1" * len(match[0])), raw)


def spell_alike(raw: bytes, meant: bytes) -> bytes:
    """Text that is spelled as `raw` is, as long, and says `meant`, as nearly as that is possible.

    `meant` is as long as what `raw` says.
    """
    decoded = decode_spellings(raw)
    units = list(_spelled_units(decoded, raw))
    if len(meant) != len(decoded.text):
        return _blank_letters(raw)
    return b"".join(_spell_unit(unit, meant[at : at + size]) for unit, at, size in units)


def _spelled_units(decoded: DecodedText, raw: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Each character as it is spelled, where its bytes are in the decoded text, and how many."""
    places = [*map(decoded.place, range(len(decoded.text))), len(raw)]
    at = 0
    while at < len(decoded.text):
        size = 1
        while at + size < len(decoded.text) and places[at + size] == places[at]:
            size += 1
        yield raw[places[at] : places[at + size]], at, size
        at += size


def _spell_unit(unit: bytes, meant: bytes) -> bytes:
    if len(unit) == len(meant) == 1:
        return meant
    match = _ESCAPE.fullmatch(unit)
    kind = match.lastgroup if match else None
    if match is None or kind is None or kind in ("short", "name") or len(meant) > 1:
        return _blank_letters(unit)
    start, stop = match.span(kind)
    width, code = stop - start, meant[0]
    digits = b"%0*d" % (width, code) if kind == "decimal" else b"%0*x" % (width, code)
    if len(digits) > width:
        digits = _FILLED.get(width, b"1" * width)
    return unit[:start] + digits + unit[stop:]


_INERT: Final = re.compile(rb"(\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|&[A-Za-z]+;)")


def _blank_letters(raw: bytes) -> bytes:
    """As long and legal wherever `raw` was, without a letter or a digit of it."""
    pieces = _INERT.split(raw)
    pieces[::2] = map(blank_out, pieces[::2])
    forms = {6: rb"\u0078", 4: rb"\x78"}
    pieces[1::2] = [forms.get(len(one), one) if one[:1] == b"\\" else one for one in pieces[1::2]]
    return b"".join(pieces)


def _decode_once(raw: bytes) -> tuple[bytes, _DecodedRound] | None:
    """The text with each escape decoded once, and where its bytes stood; None without any."""
    pieces: list[bytes] = []
    marks = _DecodedRound(array("l", [0]), array("l", [0]))
    at = size = 0
    for match in _ESCAPE.finditer(raw):
        meant = _meant_bytes(match)
        if meant:
            start, stop = match.span()
            pieces += [raw[at:start], meant]
            size += start - at
            marks.decoded.extend(range(size, size + len(meant) + 1))
            marks.raw.extend([*[start] * len(meant), stop])
            size += len(meant)
            at = stop
    return (b"".join((*pieces, raw[at:])), marks) if pieces else None


def _meant_bytes(match: re.Match[bytes]) -> bytes:
    """What an escape says; empty for what is none."""
    kind = match.lastgroup or ""
    spelled = match[kind]
    decoders: dict[str, Callable[[bytes], bytes]] = {
        "short": lambda mark: mark,
        "byte": lambda digits: bytes((int(digits, 16),)),
        "percent": lambda digits: bytes((int(digits, 16),)),
        "name": _entity_bytes,
    }
    decoder = decoders.get(kind)
    if decoder is not None:
        return decoder(spelled)
    code = int(spelled, _BASES[kind])
    return chr(code).encode("utf-8", "surrogatepass") if code < 0x110000 else b""


def _entity_bytes(name: bytes) -> bytes:
    from html.entities import html5  # noqa: PLC0415  # 2,000 names that few texts need

    return html5.get(f"{name.decode()};", "").encode()
