"""What a cassette says about itself, and the values a reader hands out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct, field

from conformance.core.events import Exchange, Fidelity

RecordingOrigin = Literal["live", "synthetic", "imported"]

VERSION: Final = "1.0"
MAJOR: Final = 1
_VERSION: Final = re.compile(r"-(?=v?[0-9])")


class Redaction(Struct, frozen=True):
    """How often one redaction rule replaced something."""

    rule: str
    count: int


class CassetteClock(Struct, frozen=True):
    """Times of one exchange that no chunk holds, in milliseconds; None where no clock was kept.

    `head` runs from the request to the response head, `end` from the last chunk (without one:
    from the head) to the end. `begun` is when the request went out, on one clock for all exchanges
    of a recording.
    """

    head: float | None = None
    end: float | None = None
    begun: float | None = None


class Header(Struct, frozen=True):
    """The first line of a cassette. `extra` holds keys that this version does not know."""

    version: str = VERSION
    origin: RecordingOrigin = "synthetic"
    fidelity: Fidelity = "bytes"
    dialect: str | None = None
    profile: str | None = None
    recorder: Mapping[str, Any] = field(default_factory=dict)
    recorded_at: str | None = None
    target: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    licence: str | None = None
    expect: Mapping[str, str] = field(default_factory=dict)
    redactions: tuple[Redaction, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class Cassette(Struct, frozen=True):
    """A cassette held in memory.

    `clocks` maps an exchange's number to its clock. `torn`: an exchange has no `end`, or the last
    line is cut. `sealed`: every end states a hash. `trailer` holds redactions that were counted
    after the header was written. `notes` are sentences for the reader.
    """

    header: Header
    exchanges: tuple[Exchange, ...] = ()
    clocks: Mapping[int, CassetteClock] = field(default_factory=dict)
    torn: bool = False
    sealed: bool = False
    trailer: tuple[Redaction, ...] = ()
    notes: tuple[str, ...] = ()


def named_target(named: str) -> dict[str, str]:
    """Name and version of NAME-VERSION, as a header holds them.

    A name may have hyphens: the version is what begins with a digit, or with `v` and a digit. Where
    nothing does, the first hyphen is between the two.
    """
    at = _VERSION.search(named, 1)
    name, version = (named[: at.start()], named[at.end() :]) if at else ("", "")
    if at is None:
        name, _, version = named.partition("-")
    return {key: word for key, word in (("name", name), ("version", version)) if word}
