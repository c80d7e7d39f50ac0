"""Keys that the user gave to this process: no text that leaves it may hold one.

They are remembered for as long as the process lives, since whatever it says last may quote them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_KEYS: Final[dict[str, None]] = {}


def remember_keys(values: Iterable[str]) -> None:
    """Values of headers with credentials, as they are sent (`Bearer ...`), or bare keys."""
    _KEYS.update(dict.fromkeys(values))


def own_keys() -> tuple[str, ...]:
    """All that were given so far."""
    return tuple(_KEYS)
