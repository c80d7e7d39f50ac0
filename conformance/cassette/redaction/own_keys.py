"""Keys that the user gave to this process, and how they are found in whatever leaves it.

What is made of words is taken out of texts (`leaving`), not of finished reports and files: a rule,
a dialect or a path of ours may hold the same word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from conformance.cassette.redaction.key_likeness import is_key_like
from conformance.cassette.redaction.known_secrets import SHORTEST_KEY, KnownSecrets
from conformance.cassette.redaction.placeholders import Placeholders
from conformance.cassette.redaction.secret_forms import is_harmless, parts_of
from conformance.cassette.redaction.secret_names import names_secret_header
from conformance.core.errors import UsageError
from conformance.core.own_keys import KEYS, NAMES, take_out_with

_VARIABLE: Final = re.compile(r"[A-Z0-9_]*_[A-Z0-9_]*")  # no header is called so
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def remember_keys(values: Iterable[str]) -> None:
    """Values of headers with credentials, as they are sent (`Bearer ...`), or bare keys."""
    KEYS.update(dict.fromkeys(values))


def remember_named(names: Iterable[str]) -> None:
    """Names of variables and of request headers whose values are secrets. Raises UsageError."""
    for name in names:
        value = os.environ.get(name, "").strip()
        if value and len(value) < SHORTEST_KEY:
            message = f"${name} has fewer than {SHORTEST_KEY} characters"
            raise UsageError(message, hint="a key this short is part of many words")
        if value:
            remember_keys([value])
        elif _VARIABLE.fullmatch(name) or not _HEADER.fullmatch(name):
            raise UsageError(f"--secret {name}: no variable and no header is called so")
        NAMES[name.lower()] = None


def secrets_sent(name: str, value: str) -> list[str]:
    """What of a header that is sent is a secret: by its name all, else what looks drawn."""
    if is_harmless(name):
        return []
    if names_secret_header(name) or name.lower() in NAMES:
        return [value]
    return [each for each in parts_of(value) if is_key_like(each)]


def own_keys() -> tuple[str, ...]:
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
        known.learn_key(key, words=False)
    return known


take_out_with(_take_out)
