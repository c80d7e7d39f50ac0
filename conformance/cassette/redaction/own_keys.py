"""Keys that the user gave to this process, and how they are found in whatever leaves it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from conformance.cassette.redaction.known_secrets import KnownSecrets
from conformance.cassette.redaction.placeholders import Placeholders
from conformance.core.own_keys import KEYS, take_out_with


def remember_keys(values: Iterable[str]) -> None:
    """Values of headers with credentials, as they are sent (`Bearer ...`), or bare keys."""
    KEYS.update(dict.fromkeys(values))


def own_keys() -> tuple[str, ...]:
    """All that were given so far."""
    return tuple(KEYS)


def _take_out(data: bytes, keys: tuple[str, ...]) -> bytes:
    spots = _known_secrets(keys).spots(data, clipped=True)
    if not spots:
        return data
    clean = bytearray(data)
    for start, stop, stand_in in spots:
        clean[start:stop] = stand_in
    return bytes(clean)


@lru_cache(maxsize=1)
def _known_secrets(keys: tuple[str, ...]) -> KnownSecrets:
    known = KnownSecrets(Placeholders())
    for key in keys:
        known.learn_key(key)
    return known


take_out_with(_take_out)
