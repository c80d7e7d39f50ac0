"""Stand-ins for secrets: same length, same alphabet, no way back, and known again when seen.

Rule 1: a stand-in depends on the plain text and on a random key that lives as long as the process
and is never written. So equal texts get equal stand-ins inside one cassette, and nobody can check
a guess against it.
Rule 2: a digit stays a digit, a letter a letter of its case, and all letters hexadecimal where they
were: what had the shape of a key has it still. Punctuation such as `-`, `_`, `=` stays. A
character outside ASCII gives a fixed one that is as long in UTF-8.
Rule 3: JSON escapes keep their form, so the length in bytes stays too, whatever the spelling.
Rule 4: the last characters of a stand-in are a check on those before, so it is distinguished from a
secret: redacting twice changes nothing, and a scan stays silent. One text in a hundred million
looks like one by chance. What is too short for a check becomes all `x`, `X` and `0` (`a`, `A` where
hexadecimal); so does all but the end of a very long text: it would take a second a megabyte.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import string
from typing import Final

_DIGITS: Final = frozenset(string.digits)
_LOWER: Final = frozenset(string.ascii_lowercase)
_ALNUM: Final = frozenset(string.digits + string.ascii_letters)
_HEX_LETTERS: Final = frozenset("abcdefABCDEF")
_PLAIN: Final = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_HEXADECIMAL: Final = (string.digits, "abcdef", "ABCDEF")
_FILLERS: Final = {2: "\u00b7", 3: "\u2026", 4: "\U0001f511"}
# The check distinguishes as many stand-ins from secrets, and leaves as many texts to choose from.
_ODDS: Final = 100_000_000
# One character of a JSON string as it is spelled: a surrogate pair counts as one.
_SPELLED: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
# What makes of keys begin with, as `sk-` and `hf_`: a stand-in that began so would be found again.
_NAME_OF_KEY: Final = re.compile(r"\A[A-Za-z]{1,3}(?=[-_.])")
_BLANKS: Final = str.maketrans(string.digits + string.ascii_letters, "0" * 10 + "x" * 26 + "X" * 26)
_WIDE: Final = re.compile(r"[^\x00-\x7f]")
_ESCAPE: Final = re.compile(r"(\\u[0-9a-fA-F]{4}|\\.)")
_LONG: Final = 4096
_LONG_SPELLED: Final = 65536


class Placeholders:
    """Makes stand-ins under one key."""

    __slots__ = ("_key",)

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def plain(self, text: str, kept: int = 0) -> str:
        """The stand-in for a text: as many characters, as many bytes; the first `kept` stay."""
        end = text[-_LONG:]
        shape = _SecretShape(end, _HEXADECIMAL if _is_hexadecimal(end) else _PLAIN)
        front = _blank_character(text[:-_LONG])
        if not shape.checked:
            return text[:kept] + (front + _short_filler(end))[kept:]
        noise = hashlib.shake_256(self._key + text.encode("utf-8", "surrogatepass"))
        filled = front + shape.filled(noise.digest(2 * len(end)))
        filled = text[:kept] + _NAME_OF_KEY.sub(_blank_match, filled[kept:])
        return filled[:-_LONG] + shape.with_check(filled[-_LONG:])

    def spelled(self, raw: str) -> str:
        """The stand-in for the inside of a JSON string, in the same spelling and length.

        A stand-in is its own.
        """
        if is_stand_in(raw):
            return raw
        if "\\" not in raw:
            return self.plain(raw)
        if len(raw) > _LONG_SPELLED:
            return _blank_spelled(raw)
        spellings = _SPELLED.findall(raw)
        replaced = self.plain("".join(_meant_text(one) for one in spellings))
        return "".join(map(_spelled_like, spellings, replaced))


class Blanks(Placeholders):
    """The same stand-in whenever it is made: every letter an `x`, every digit a `0`."""

    __slots__ = ()

    def plain(self, text: str, kept: int = 0) -> str:
        return text[:kept] + _blank_character(text[kept:])


def is_stand_in(raw: str) -> bool:
    """Whether the inside of a JSON string is a stand-in, whoever made it.

    It is by its check, or because it says nothing.
    """
    if "\\" in raw and len(raw) > _LONG_SPELLED:
        return _blank_spelled(raw) == raw
    text = "".join(map(_meant_text, _SPELLED.findall(raw))) if "\\" in raw else raw
    front, end = text[:-_LONG], text[-_LONG:]
    if _blank_character(front) != front:
        return False
    return has_check(end) or end in (_short_filler(end), _blank_character(end))


def has_check(text: str) -> bool:
    """Whether a text ends with the check of a stand-in: what is short or says nothing has none."""
    end = text[-_LONG:]
    kinds = (_HEXADECIMAL, _PLAIN) if _is_hexadecimal(end) else (_PLAIN,)
    shapes = [_SecretShape(end, kind) for kind in kinds]
    return any(shape.checked and shape.with_check(end) == end for shape in shapes)


def blank_out(data: bytes) -> bytes:
    """Bytes of which every letter and digit is gone; as many as came in."""
    return data.decode("latin-1").translate(_BLANKS).encode("latin-1")


class _SecretShape:
    """Which characters of a text are replaced, from which alphabets, and which are the check."""

    __slots__ = ("_alphabets", "_check", "_text", "checked")

    def __init__(self, text: str, kinds: tuple[str, str, str]) -> None:
        self._text = text
        self._alphabets = {
            i: _alphabet_of(char, kinds) for i, char in enumerate(text) if char in _ALNUM
        }
        self._check = self._last_character(list(reversed(self._alphabets)))
        rest = [i for i in self._alphabets if i < min(self._check, default=0)]
        self.checked = bool(self._check) and bool(self._last_character(rest))

    def filled(self, stream: bytes) -> str:
        # Two bytes a character keep the choice within 0.1 % of even.
        return "".join(
            self._pick_character(i, stream) if i in self._alphabets else _filler_text(char)
            for i, char in enumerate(self._text)
        )

    def with_check(self, text: str) -> str:
        """The text, its last characters what they must be."""
        first = min(self._check)
        stream = hashlib.shake_256(text[:first].encode("utf-8", "surrogatepass")).digest(
            2 * len(text)
        )
        tail = [
            self._pick_character(i, stream) if i in self._check else text[i]
            for i in range(first, len(text))
        ]
        return text[:first] + "".join(tail)

    def _pick_character(self, index: int, stream: bytes) -> str:
        alphabet = self._alphabets[index]
        return alphabet[int.from_bytes(stream[2 * index : 2 * index + 2]) % len(alphabet)]

    def _last_character(self, places: list[int]) -> frozenset[int]:
        """As many of these places as the odds ask for; none where there are too few."""
        texts = 1
        for count, place in enumerate(places, 1):
            texts *= len(self._alphabets[place])
            if texts >= _ODDS:
                return frozenset(places[:count])
        return frozenset()


def _is_hexadecimal(text: str) -> bool:
    return all(char in _HEX_LETTERS or char in _DIGITS for char in text if char in _ALNUM)


def _alphabet_of(char: str, kinds: tuple[str, str, str]) -> str:
    if char in _DIGITS:
        return kinds[0]
    return kinds[1] if char in _LOWER else kinds[2]


def _blank_character(text: str) -> str:
    blank = text.translate(_BLANKS)
    return blank if blank.isascii() else _WIDE.sub(lambda match: _filler_text(match[0]), blank)


def _blank_match(match: re.Match[str]) -> str:
    return _blank_character(match[0])


def _short_filler(text: str) -> str:
    blank = _blank_character(text)
    return blank.replace("x", "a").replace("X", "A") if _is_hexadecimal(text) else blank


def _blank_spelled(raw: str) -> str:
    pieces = _ESCAPE.split(raw)
    pieces[::2] = map(_blank_character, pieces[::2])
    pieces[1::2] = [r"\u0078" if len(one) == 6 else one for one in pieces[1::2]]
    return "".join(pieces)


def _filler_text(char: str) -> str:
    # A surrogate stands for a byte that is not UTF-8: it must come back as that byte.
    if char.isascii() or "\ud800" <= char <= "\udfff":
        return char
    return _FILLERS[len(char.encode())]


def _meant_text(spelling: str) -> str:
    """The character; a spelling that JSON does not know stands for a backslash."""
    if len(spelling) == 1:
        return spelling
    try:
        meant: str = json.loads(f'"{spelling}"')
    except ValueError:
        return "\\"
    return meant


def _spelled_like(spelling: str, char: str) -> str:
    if len(spelling) == 1:
        return char
    if len(spelling) == 2:
        return spelling  # an escaped `/`, quote or control character: punctuation stays
    return json.dumps(char)[1:-1] if len(spelling) == 12 else f"\\u{ord(char):04x}"
