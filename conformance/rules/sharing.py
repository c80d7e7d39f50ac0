"""What is made of a pattern or schema, made once for all rules and profiles that have the same one.

A folder of recordings by many profiles compiles each rule for each of them; few rules hang on one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar

Made = TypeVar("Made")
Make = Callable[[Any, Mapping[str, Any]], Made]

MOST_SHARED: Final = 4096
_NAMED: Final = ("'$", '"$')  # how a text that names a knob or a value of the exchange is spelled


def shared(make: Make[Made]) -> Make[Made]:
    """`make`, called once for equal patterns that name nothing; what it gives must be immutable."""
    known: dict[str, Made] = {}

    @wraps(make)
    def made(pattern: Any, knobs: Mapping[str, Any]) -> Made:
        key = repr(pattern)
        found = known.get(key)
        if found is None:
            found = make(pattern, knobs)
            if len(known) < MOST_SHARED and not any(sign in key for sign in _NAMED):
                known[key] = found
        return found

    return made
