"""By what a recording is judged: dialect and profile, named, recorded or recognised."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance import dialects
from conformance.cassette.content import described_content
from conformance.cassette.header import Header
from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange
from conformance.dialects.base import Dialect
from conformance.dialects.recognition import doubted_dialect, recognised_dialect
from conformance.judging.checker import ProfileFinder, choose_named_profile
from conformance.profiles.lookup import find
from conformance.profiles.profile import Profile, laid_over
from conformance.profiles.variants import variant_for
from conformance.recordings.sender import Sender

_ALL_DIALECTS: Final = "--dialect NAME names it; conformance list dialects shows all"
_STATED_MONTH: Final = re.compile(r"(20[0-9]{2}-(?:0[1-9]|1[0-2]))(?:-|$)")


class UnknownDialectError(UsageError):
    """The stream shows no dialect, and none is named."""


class CheckChoices(Struct, frozen=True):
    """The user's options; None leaves it to the recording."""

    dialect: str | None = None
    profile: str | None = None
    folders: tuple[Path, ...] = ()
    keep: bool = False
    trusted: tuple[Path, ...] = ()  # resolved; what lies there may excuse itself
    among_others: bool = False  # other recordings may carry its answers on


def choose_dialect(exchange: Exchange, stated: str | None) -> Dialect:
    """As `agreed_dialect`, of what the stream shows."""
    return agreed_dialect(stated, recognised_dialect(exchange), exchange)


def agreed_dialect(
    stated: str | None, shown: str | None, exchange: Exchange, *, place: Place | None = None
) -> Dialect:
    """The dialect that was stated, unless the stream shows another; else the one it shows.

    Raises UsageError where they contradict, where it is not supported, or where none shows.
    `place` is the file of the stream.
    """
    if stated is None and shown is None:
        raise _unknown_dialect(exchange, place)
    agreed = dialects.get(stated or shown or "")
    if not dialects.agrees(agreed, shown):
        message = f"the stated dialect is {agreed.name}, but the stream speaks {shown}"
        raise UsageError(message, place=place)
    return agreed


def _unknown_dialect(exchange: Exchange, place: Place | None) -> UnknownDialectError:
    """Says what the exchange holds instead of an answer, as far as its bytes show it."""
    if (found := described_content(exchange.body)) is not None:
        return UnknownDialectError(f"no answer of a model, but {found}", place=place)
    doubted = doubted_dialect(exchange)
    message = "no known dialect is recognised" + (f": {doubted}" if doubted else "")
    return UnknownDialectError(message, place=place, hint=_ALL_DIALECTS)


class ChosenProfile(Struct, frozen=True):
    """The profile by which an exchange is judged, whether it was named, and what to report."""

    profile: Profile
    named: bool
    notes: tuple[str, ...] = ()


class ProfileChoice(Struct, frozen=True):
    """How the profile of one exchange is chosen; `recorded` is the one that the recording names.

    `sender` is called only where no profile is named.
    """

    dialect: Dialect
    choices: CheckChoices
    recorded: str | None
    sender: Callable[[], Sender | None]
    find: ProfileFinder

    def profile_for(self, header: Header, exchange: Exchange) -> ChosenProfile:
        """The chosen profile, or its variant for the request and the month of the answer."""
        by = self._profile()
        request = self.dialect.stated(exchange.request)
        variant = variant_for(by.profile.variants, request, recorded_month(header, exchange))
        if variant is None:
            return by
        profile = self.find(variant.profile, by.profile.dialect, self.choices.folders)
        note = f"profile {variant.profile}, a variant of {by.profile.name}: {variant.because}"
        return ChosenProfile(profile, named=by.named, notes=(*by.notes, note))

    def _profile(self) -> ChosenProfile:
        """The profile that was named, recorded or recognised; a client's laid over the server's."""
        choices, recorded = self.choices, self.recorded
        profile, is_named = choose_profile(self.dialect, choices, recorded, self.find)
        if profile.side == "client" and choices.profile is not None and "/" not in profile.name:
            of_server = recorded.rpartition("/")[2] if recorded is not None else None
            server = replace(self, choices=replace(choices, profile=None), recorded=of_server)
            met = server._profile()  # noqa: SLF001  # of the same class
            return ChosenProfile(laid_over(profile, met.profile), named=True, notes=met.notes)
        if not is_named and (found := self.sender()) and found.is_certain:
            by = self.find(found.profile, self.dialect.name, choices.folders)
            identified = f"profile {found.profile} identified by: {'; '.join(found.signs)}"
            own = ", ".join((*by.reasons, *by.overrides))
            note = f"{identified}; otherwise than strict: {own}" if own else identified
            return ChosenProfile(by, named=False, notes=(note,))
        return ChosenProfile(profile, named=is_named)


def recorded_month(header: Header, exchange: Exchange) -> str:
    """The month of an answer, `2025-03`; empty where nothing trusted shows it.

    The clock of a server that we called ourselves does not count: only where the recorder kept no
    time does the head of an imported answer count.
    """
    if header.recorded_at is not None:
        stated = _STATED_MONTH.match(header.recorded_at)
        return stated[1] if stated else ""
    if header.origin != "imported" or exchange.response is None:
        return ""
    try:
        return parsedate_to_datetime(exchange.response.header("date") or "").strftime("%Y-%m")
    except ValueError:
        return ""


def choose_profile(
    dialect: Dialect, choices: CheckChoices, recorded: str | None, named: ProfileFinder = find
) -> tuple[Profile, bool]:
    """The profile to judge by, and whether it was named; `named` finds it by its name.

    A user may name a file; a recording may not, it could lead anywhere.
    """
    if choices.profile:
        return choose_named_profile(choices.profile, dialect, choices.folders, named), True
    return named(recorded or "strict", dialect.name, choices.folders), recorded is not None
