"""Profiles: how one real system speaks a dialect.

Rule 1: `strict` declares the knobs of a dialect; every other profile extends one and says, for
each knob or rule it changes, why (`because`) and how often it was met (`seen`).
Rule 2: a profile with `side: client` says what a client promises of its requests and reports. It
says nothing of a server, so it sets a client's knobs only, and is laid over the profile of the
server that the client met: the client's promises and knobs, the server's way of speaking.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.errors import Place, UsageError
from conformance.dialects.base import Reading
from conformance.profiles.fingerprints import Fingerprint
from conformance.profiles.knobs import Knob, KnobSide
from conformance.profiles.variants import Variant
from conformance.rules.verdicts import Level


class KnobReason(Struct, frozen=True):
    """Why a profile sets a knob, and the evidence."""

    because: str
    seen: str


class Override(Struct, frozen=True):
    """A rule that this system is known to break: judged at another level, or `off`."""

    level: Level | Literal["off"]
    because: str
    seen: str
    place: Place


class Profile(Struct, frozen=True):
    """One profile with everything it inherits.

    `knobs` holds a plain JSON value for every knob that the dialect declares; `reasons` only those
    that differ from strict. `extends` is empty for the profile that declares the knobs.
    `fingerprints` and `variants` are not inherited.
    """

    name: str
    dialect: str
    title: str
    fields: Mapping[str, tuple[str, ...]]
    promises: tuple[str, ...]
    knobs: Mapping[str, Any]
    file: str
    declared: Mapping[str, Knob]
    reasons: Mapping[str, KnobReason] = field(default_factory=dict)
    overrides: Mapping[str, Override] = field(default_factory=dict)
    extends: str = ""
    fingerprints: tuple[Fingerprint, ...] = ()
    side: KnobSide = "server"
    variants: tuple[Variant, ...] = ()


def laid_over(client: Profile, met: Profile) -> Profile:
    """Give the profile by which a client is judged that met a server of profile `met`.

    Its name is CLIENT/SERVER, as `find` reads it. Raises `UsageError` for a profile that is no
    client's, and for two dialects.
    """
    if client.side != "client":
        raise UsageError(f"profile {client.name!r} is a server's: it is laid over nothing")
    if client.dialect != met.dialect:
        named = f"profile {client.name!r} is for {client.dialect}"
        raise UsageError(f"{named}, but the server speaks {met.dialect}")
    own = {name: client.knobs[name] for name, knob in met.declared.items() if knob.side == "client"}
    return replace(
        met,
        name=f"{client.name}/{met.name}",
        title=client.title,
        promises=client.promises,
        knobs={**met.knobs, **own},
        reasons={**met.reasons, **client.reasons},
        overrides={**met.overrides, **client.overrides},
        file=f"{client.file} over {met.file}",
        fingerprints=(),
        side="client",
    )


def reading(profile: Profile) -> Reading:
    """Tell a dialect how this system's streams are to be read."""
    knobs = profile.knobs
    return Reading(
        markers=tuple((pair[0], pair[1]) for pair in knobs.get("markers", ())),
        opened_by_prompt=knobs.get("think_opened_by") == "prompt",
        last_close=knobs.get("marker_close") == "last",
        fields=profile.fields,
    )
