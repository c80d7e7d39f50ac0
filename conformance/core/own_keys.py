"""Keys that the user gave to this process: no text that leaves it may hold one.

They are remembered for as long as the process lives, since whatever it says last may quote them.
How they are found in other spellings is known to `cassette/redaction/own_keys.py`, which is loaded
with the first key: most calls have none, and print no text that needs a look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

TakeOut = Callable[[bytes, tuple[str, ...]], bytes]

KEYS: Final[dict[str, None]] = {}
NAMES: Final[dict[str, None]] = {}
"""Headers, in lower case, whose values are secrets because the user says so."""
_TAKEN_OUT_BY: Final[list[TakeOut]] = []


def take_out_with(function: TakeOut) -> None:
    """Says how keys are taken out of bytes, as many bytes as before."""
    _TAKEN_OUT_BY[:] = [function]


def without_own_keys(text: str) -> str:
    """Any text that is about to leave the process: a line, a report in whatever format, a file.

    However a key is spelled there; as long as before.
    """
    if not KEYS:
        return text
    return without_own_key_bytes(text.encode("utf-8", "surrogatepass")).decode(
        "utf-8", "surrogatepass"
    )


def without_own_key_bytes(data: bytes) -> bytes:
    if not KEYS:
        return data
    (take_out,) = _TAKEN_OUT_BY
    return take_out(data, tuple(KEYS))
