"""What goes wrong inside a run: each takes one delta's piece and gives bytes in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from tests.fuzz.dialogues import MARKER, Fields, Piece, compact

Perturbation = Callable[[Piece, Random], bytes]

TEXTS: Final = ("content", "reasoning_content", "thinking", "text", "delta")
# What stands where a JSON string should: it breaks out, brings white space or is no string.
HOSTILE: Final = (
    '"a","delta":"b"',
    '"a","b"',
    '"a"}\n\ndata: {"x":"b"',
    '"a\\"',
    '\n"a"',
    '"a"\n',
    '\r"a"',
    '"a"\r',
    ' "a"',
    '\t"a" ',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\u0000"',
    '"a\nb"',
    '"a\rb"',
    '"\u2028"',
    "null",
    "1",
    "[]",
    '{"a":"b"}',
    '""',
    '"',
    "",
    '"[[[{{{"',
    '" "',
)
NUMBERS: Final = ("1.0", "01", "1e3", "-1", "-0", "null", '"5"', "5 ", "9" * 19, "true")


def holder(fields: Fields) -> tuple[Any, str]:
    """What holds the text of a delta, and under which name."""
    if isinstance(fields.get("choices"), list):
        fields = fields["choices"][0]["delta"]
    elif isinstance(fields.get("delta"), dict):
        fields = fields["delta"]
    name = next((name for name in TEXTS if isinstance(fields.get(name), str)), "")
    return fields, name


def with_text(piece: Piece, text: str) -> Piece:
    """The piece with another text."""
    payload = piece.payload
    inner, name = holder(payload)
    if name:
        inner[name] = text
    return piece.holding(payload)


def raw(piece: Piece, value: str) -> bytes:
    """The piece with raw bytes where its text was."""
    mark = "\x02mark"
    whole = with_text(piece, mark).encode()
    return whole.replace(json.dumps(mark).encode(), value.encode("utf-8", "surrogatepass"))


def _with(change: Callable[[Fields, Random], Any]) -> Perturbation:
    def perturb(piece: Piece, source: Random) -> bytes:
        payload = piece.payload
        change(payload, source)
        return piece.holding(payload).encode()

    return perturb


def _another_id(fields: Fields, source: Random) -> None:
    name = source.choice(
        [n for n in ("item_id", "id", "index", "output_index") if n in fields] or ["id"]
    )
    fields[name] = source.choice(["other", 7, None, ""])


def _gap(fields: Fields, source: Random) -> None:
    if "sequence_number" in fields:
        fields["sequence_number"] += source.choice((-1, 1, 5, 10**17))


def _number(piece: Piece, source: Random) -> bytes:
    number = piece.payload.get("sequence_number")
    if number is None:
        return piece.encode()
    old, new = f'"sequence_number":{number},', f'"sequence_number":{source.choice(NUMBERS)},'
    return piece.encode().replace(old.encode(), new.encode())


def _reordered(piece: Piece, source: Random) -> bytes:
    pairs = list(piece.payload.items())
    source.shuffle(pairs)
    return piece.holding(dict(pairs)).encode()


def _rotated(piece: Piece, source: Random) -> bytes:
    """Columns change places with all that stands between them."""
    text, number = piece.text, piece.payload.get("sequence_number")
    if number is None or "obfuscation" not in piece.payload:
        return _reordered(piece, source)
    after = text.index(f'"sequence_number":{number}') + len(f'"sequence_number":{number}')
    middle, end = text.index(',"delta"', after), text.index(',"obfuscation"', after)
    close = len(text) - 1
    swapped = text[:after] + text[end:close] + text[after:middle] + text[middle:end] + text[close:]
    return piece.encode().replace(text.encode(), swapped.encode())


def _twice(piece: Piece, source: Random) -> bytes:
    """One pair of the outer object stands there twice, the second with a text of its own."""
    name = source.choice(list(piece.payload))
    value = piece.payload[name] if source.random() < 0.5 else "again"
    text = piece.text[:-1] + "," + compact({name: value})[1:]
    return piece.encode().replace(piece.text.encode(), text.encode())


def _spaced(piece: Piece, source: Random) -> bytes:
    separators = source.choice([(", ", ": "), (",", ": "), (" ,", ":"), (",\t", ":")])
    text = compact(piece.payload, separators=separators)
    return piece.encode().replace(piece.text.encode(), text.encode())


def _pretty(piece: Piece, source: Random) -> bytes:  # noqa: ARG001  # one signature
    """JSON over several data lines, as the standard allows."""
    text = json.dumps(piece.payload, indent=1, ensure_ascii=False).replace("\n", "\ndata: ")
    return piece.encode().replace(piece.text.encode(), text.encode())


def _split_data(piece: Piece, source: Random) -> bytes:
    """A line feed somewhere between two tokens, with or without `data: ` behind it."""
    at = source.choice([i for i, c in enumerate(piece.text) if c in '{,:"'])
    text = piece.text[:at] + source.choice(("\n", "\ndata: ", "\r", "\r\ndata: ")) + piece.text[at:]
    return piece.encode().replace(piece.text.encode(), text.encode())


def _unpadded(fields: Fields, source: Random) -> None:
    if "obfuscation" in fields and source.random() < 0.5:
        del fields["obfuscation"]
    else:
        fields["obfuscation"] = source.choice(("", "x", "y" * 40, None, 1))


def _long(piece: Piece, source: Random) -> bytes:
    size = source.choice((300, 5_000, 70_000))
    return with_text(piece, source.choice(("x", "\u8c46", "\\")) * size).encode()


def _framed(piece: Piece, source: Random) -> bytes:
    """The same payload in another frame: other names, ids, fields, ends of line."""
    data = f"data: {piece.text}\n\n".encode()
    return source.choice(
        (
            b"event: other\n" + data,
            b"event:" + piece.name.encode() + b"\n" + data,
            b"id: 7\n" + data,
            b"retry: 5\n" + data,
            b"junk\n" + data,
            b": note\n" + data,
            b"data:" + data[6:],
            b"\n" + data,
            data + b"\n",
            data[:-1],
            data.replace(b"\n", b"\r\n"),
            data.replace(b"\n", b"\r"),
            b"\xef\xbb\xbf" + data,
            data[:-1] + b": late\n\n",
        )
    )


PERTURBATIONS: Final[Mapping[str, Perturbation]] = {
    "another id": _with(_another_id),
    "gap": _with(_gap),
    "number": _number,
    "empty": lambda piece, _: with_text(piece, "").encode(),
    "marker": lambda piece, _: with_text(piece, MARKER).encode(),
    "comment": lambda piece, s: s.choice((b": ping\n\n", b":\n", b": a\n: b\n\n")) + piece.encode(),
    "crlf": lambda piece, _: piece.encode().replace(b"\n", b"\r\n"),
    "twice": lambda piece, _: piece.encode() * 2,
    "dropped": lambda _piece, _: b"",
    "bad utf-8": lambda piece, s: raw(piece, '"a"').replace(
        b'"a"', s.choice((b'"\xff"', b'"\xc3"'))
    ),
    "hostile": lambda piece, s: raw(piece, s.choice(HOSTILE)),
    "reordered": _reordered,
    "rotated": _rotated,
    "key twice": _twice,
    "unknown key": _with(lambda fields, s: fields.update({s.choice(("x", "delta.x")): [1]})),
    "spaced": _spaced,
    "pretty": _pretty,
    "line feed": _split_data,
    "padding": _with(_unpadded),
    "long": _long,
    "framed": _framed,
}
