"""Keys that the user gave to this process: no text that leaves it may hold one.

They are remembered for as long as the process lives, since whatever it says last may quote them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # most calls have no key, and print no text that needs a look
    from conformance.cassette.known_secrets import KnownSecrets

_KEYS: Final[dict[str, None]] = {}


def remember_keys(values: Iterable[str]) -> None:
    """Values of headers with credentials, as they are sent (`Bearer ...`), or bare keys."""
    _KEYS.update(dict.fromkeys(values))


def own_keys() -> tuple[str, ...]:
    """All that were given so far."""
    return tuple(_KEYS)


def without_own_keys(text: str) -> str:
    """Any text that is about to leave the process: a line, a report in whatever format, a file.

    However it is spelled there; as long as before.
    """
    if not _KEYS:
        return text
    return without_own_key_bytes(text.encode("utf-8", "surrogatepass")).decode(
        "utf-8", "surrogatepass"
    )


def without_own_key_bytes(data: bytes) -> bytes:
    """As `without_own_keys`."""
    spots = _known(own_keys()).spots(data, clipped=True) if _KEYS else []
    if not spots:
        return data
    clean = bytearray(data)
    for start, stop, stand_in in spots:
        clean[start:stop] = stand_in
    return bytes(clean)


@lru_cache(maxsize=1)
def _known(keys: tuple[str, ...]) -> KnownSecrets:
    from conformance.cassette.known_secrets import KnownSecrets  # noqa: PLC0415  # as above
    from conformance.cassette.placeholders import Placeholders  # noqa: PLC0415  # as above

    known = KnownSecrets(Placeholders())
    for key in keys:
        known.learn_key(key)
    return known
