"""What is known of a dialect's JSON by those who look at payloads without reading them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from conformance.core.events import Event


class WireKeys(Struct, frozen=True):
    """Keys of payloads, by what is under them.

    `texts` are pieces of what a model says, thinks and calls, `shown` those that a client shows,
    `indices` the numbers that tell to which text a piece belongs. `opaque` is data that is never
    displayed. `words` are of a small vocabulary (a status, a reason), `free` is in any form
    (arguments, metadata). `unrolled` are lists whose elements are wire events of their own,
    of events whose type begins with one of `unrolling`.
    """

    texts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    unrolled: tuple[str, ...] = ()
    unrolling: tuple[str, ...] = ()

    def __or__(self, other: WireKeys) -> WireKeys:
        names = self.__struct_fields__
        joined = {n: (*getattr(self, n), *getattr(other, n)) for n in names}
        return WireKeys(**{name: tuple(dict.fromkeys(keys)) for name, keys in joined.items()})


class SseEnvelope(Struct, frozen=True):
    """What a payload says of the lines around it in an event stream.

    `is_named`: an event of this type has an `event:` line. `finishes`: with this payload, or a
    later one, the stream owes a `[DONE]`.
    """

    is_named: Callable[[str], bool] = lambda _type: False
    finishes: Callable[[Any], bool] = lambda _payload: False


class AnswerBounds(Struct, frozen=True):
    """Types of wire events by which two answers in one exchange are distinguished.

    `first` may begin an answer; `once` does so, and comes once in it; `last` ends it. Where
    answers bear an id on every event, `identified` is the type that has it, and `speaks` says
    whether an event brings something new.
    """

    first: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    identified: str = ""
    speaks: Callable[[Event], bool] = lambda _event: False


class ItemPlaces(Struct, frozen=True):
    """Where events of an output item have its number, and where the final event lists items."""

    index: str
    output: tuple[str, ...]
