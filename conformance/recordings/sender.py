"""Which profile the exchanges of a recording show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.core.events import Event, Exchange
from conformance.dialects.base import Dialect, Reading
from conformance.identify.witness import named
from conformance.judging.fast.joined import read_joined
from conformance.profiles.fingerprints import Signs, Watch
from conformance.profiles.lookup import fingerprints

_HEADS: Final = frozenset({"http.request", "http.response"})


class Sender(Struct, frozen=True):
    """A profile and the signs that speak for it: beyond doubt, or as a guess."""

    profile: str
    signs: tuple[str, ...]
    is_certain: bool


def sender_of(
    exchanges: Iterable[Exchange], dialect: Dialect, folders: tuple[Path, ...]
) -> Sender | None:
    """The one profile that the exchanges show; None if there is none."""
    watch = Watch(known_signs(dialect.name, folders))
    for exchange in exchanges:
        if exchange.response is None and not exchange.chunks:
            continue  # there is no answer
        # Deltas that are alike show the watch no more than the first of them.
        joins = not watch.awaits("sse.frame")
        for event in answer_events(exchange, dialect, Reading(), joins=joins):
            watch.see(event)
    profile, certainty = named(watch.met)
    if profile is None:
        return None
    fitting = [f for f in watch.met if f.profile == profile]
    signs = [f.says for f in fitting if not f.is_weak] or [f.says for f in fitting]
    return Sender(profile, tuple(signs), certainty == "certain")


def known_signs(dialect: str, folders: tuple[Path, ...]) -> Signs:
    """Those of every profile; made ready once in a process where no folder is the user's."""
    return Signs(fingerprints(dialect, folders)) if folders else _shipped_signs(dialect)


@cache
def _shipped_signs(dialect: str) -> Signs:
    return Signs(fingerprints(dialect))


def answer_events(
    exchange: Exchange, dialect: Dialect, reading: Reading, *, joins: bool = False
) -> Iterator[Event]:
    """The answer, and the host of the request; the rest of the request identifies no sender.

    With `joins`, of deltas that are alike only the first ones are given.
    """
    for number, _, events, is_joined in read_joined(exchange, dialect, reading, joins=joins):
        if not is_joined:
            yield from (each for each in events if number or each.type in _HEADS)
