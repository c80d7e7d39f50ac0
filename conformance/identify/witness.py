"""Sees the events of one exchange once, and says who sent them and how.

Rule 1: a profile is certain if a fingerprint that names it was met, and none that names another;
of a gateway, also where what it passes on names another.
Rule 2: a profile is a guess if only weak fingerprints were met, or if several were named; the one
with the most decides, and where two have as many there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from conformance.core.events import Event
from conformance.dialects import get
from conformance.profiles.fingerprints import Fingerprint, Signs, Watch

Certainty = Literal["certain", "guess", "none"]


class Identity(Struct, frozen=True):
    """What one exchange showed.

    `profile` is None where nothing was met that shows. `signs` are its fingerprints, `rivals`
    those of other profiles by name. `knobs` holds the observed value of every knob that the
    exchange showed, and `private` the paths below a delta that carry text under unknown keys.
    """

    dialect: str
    profile: str | None
    certainty: Certainty
    signs: tuple[str, ...]
    rivals: Mapping[str, tuple[str, ...]]
    knobs: Mapping[str, Any]
    private: tuple[str, ...]


class Witness:
    """One exchange; `see` every event in order, then ask for the `identity`."""

    def __init__(self, dialect: str, signs: Signs, *, framed: bool = True) -> None:
        self._dialect = dialect
        self._framed = framed
        self._watch = Watch(signs)
        spoken = get(dialect)
        self._knobs = spoken.knobs() if spoken.knobs else None
        self._private = spoken.private_texts() if spoken.private_texts else None

    def see(self, event: Event) -> None:
        self._watch.see(event)
        if self._private is not None:
            self._private.see(event)
        # Ids and numbers begin anew with every answer of an exchange: one shows the habits.
        if self._knobs is not None and event.answer == 1:
            self._knobs.see(event)

    def identity(self) -> Identity:
        profile, certainty = named(self._watch.met)
        signs = {
            name: self._signs_of(name) for name in sorted({f.profile for f in self._watch.met})
        }
        own = signs.pop(profile, ()) if profile else ()
        knobs = self._knobs.values(framed=self._framed) if self._knobs else {}
        private = self._private.thinking() if self._private else ()
        return Identity(self._dialect, profile, certainty, own, signs, knobs, private)

    def _signs_of(self, profile: str) -> tuple[str, ...]:
        met = self._watch.met_by
        return (*met(profile, weak=False), *met(profile, weak=True))


def named(met: Sequence[Fingerprint]) -> tuple[str | None, Certainty]:
    """The profile that fingerprints speak for, and how sure that is."""
    telling = [f for f in met if not f.is_weak]
    gateways = [f for f in telling if f.is_gateway]
    strong = Counter(f.profile for f in gateways or telling)
    if len(strong) == 1:
        return next(iter(strong)), "certain"
    guess = _most_common(strong or Counter(f.profile for f in met))
    return guess, "guess" if guess else "none"


def _most_common(counts: Counter[str]) -> str | None:
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
