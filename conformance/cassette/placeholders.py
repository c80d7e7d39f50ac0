"""Stand-ins for secrets: same length, same alphabet, and no way back.

Rule 1: a stand-in depends on the plain text and on a random key that lives as long as the process
and is never written. So equal texts get equal stand-ins inside one cassette, and nobody can check
a guess against it.
Rule 2: letters and digits are replaced from the narrowest alphabet that holds them all (digits,
hexadecimal, one case, both); punctuation such as `-`, `_`, `=` stays. A character outside ASCII
gives a fixed one that is as long in UTF-8.
Rule 3: JSON escapes keep their form, so the length in bytes stays too, whatever the spelling.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import string
from typing import Final

_ALPHABETS: Final = tuple(
    (frozenset(alphabet), alphabet)
    for alphabet in (
        string.digits,
        string.digits + "abcdef",
        string.digits + "ABCDEF",
        string.ascii_lowercase,
        string.ascii_uppercase,
        string.digits + string.ascii_lowercase,
        string.digits + string.ascii_uppercase,
        string.digits + string.ascii_letters,
    )
)
_ALNUM: Final = frozenset(string.digits + string.ascii_letters)
_FILLERS: Final = {2: "\u00b7", 3: "\u2026", 4: "\U0001f511"}
# One character of a JSON string as it is spelled: a surrogate pair counts as one.
_SPELLED: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


class Placeholders:
    """Makes stand-ins under one key."""

    __slots__ = ("_key",)

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def plain(self, text: str) -> str:
        """The stand-in for a text: as many characters, as many bytes."""
        letters = [char for char in text if char in _ALNUM]
        alphabet = _alphabet(frozenset(letters))
        # Two bytes a character keep the choice within 0.1 % of even.
        noise = hashlib.shake_256(self._key + text.encode("utf-8", "surrogatepass"))
        stream = noise.digest(2 * len(text))
        return "".join(
            alphabet[int.from_bytes(stream[2 * i : 2 * i + 2]) % len(alphabet)]
            if char in _ALNUM
            else _filler(char)
            for i, char in enumerate(text)
        )

    def spelled(self, raw: str) -> str:
        """The stand-in for the inside of a JSON string, in the same spelling and length."""
        if "\\" not in raw:
            return self.plain(raw)
        spellings = _SPELLED.findall(raw)
        replaced = self.plain("".join(_meant(one) for one in spellings))
        return "".join(map(_spelled_like, spellings, replaced))


def _alphabet(letters: frozenset[str]) -> str:
    return next(text for known, text in _ALPHABETS if letters <= known)


def _filler(char: str) -> str:
    # A surrogate stands for a byte that is not UTF-8: it must come back as that byte.
    if char.isascii() or "\ud800" <= char <= "\udfff":
        return char
    return _FILLERS[len(char.encode())]


def _meant(spelling: str) -> str:
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
