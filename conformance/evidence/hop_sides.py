"""Both hops of an application as they are compared, and what a difference between them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Exchange, Request
from conformance.dialects.base import Dialect, Reading
from conformance.evidence.side_content import EventPlace, PartKind, SideContent, SidePart
from conformance.judging.transcript import WHOLE_ENDS, Transcript
from conformance.rules.about import Change

_STOPPED: Final = frozenset({"abort", "cancelled"})
UNHEARD: Final = frozenset({"client-closed", "open"})
"""Ends of which the sender knows nothing."""
TELLING: Final = 12
"""Characters that no other text has by chance."""


class ReadAnswer(Struct, frozen=True):
    """An exchange, its reading and its content; semantic events are kept.

    `other` is the same answer in another valid reading.
    """

    dialect: Dialect
    reading: Reading
    transcript: Transcript
    source: tuple[str, int] = ("", 1)  # its file, and its number there
    other: ReadAnswer | None = None

    @property
    def exchange(self) -> Exchange:
        return self.transcript.exchange

    @property
    def is_whole(self) -> bool:
        return self.transcript.ending in WHOLE_ENDS


def _unknown() -> str:
    return ""


class ApplicationHops(Struct, frozen=True):
    """Both sides. `calls` are the provider's answers in order, `shown` is the application's.

    `made` is the content of the provider's side, `sent` of the application's; `strings` are those
    of the application's payloads, by path, each with its event. `later` are the provider's requests
    in the turns that continue this one. `hides`: by its profile the application shows no thinking.
    `has_no_place`: by its profile it has no place for opaque data. `taken_back` is the last event
    by which the interface drops what it showed before; 0 if there is none. `tries` are the indices
    of answers that were retried, or broke off before the last one. `is_played`: the toolkit played
    the provider, so its recording is complete. `keeps_history`: why nothing is known of the last
    answer, where the application itself keeps what its model said; it is read when somebody asks.
    """

    calls: tuple[ReadAnswer, ...]
    shown: ReadAnswer
    made: SideContent
    sent: SideContent
    strings: Mapping[str, Sequence[tuple[int, str]]]
    later: Sequence[Request] = ()
    hides: bool = False
    has_no_place: bool = False
    taken_back: int = 0
    tries: frozenset[int] = frozenset()
    is_played: bool = False
    keeps_history: Callable[[], str] = _unknown

    def need_not_show(self, kind: PartKind) -> bool:
        """Whether its protocol demands nothing of a kind, and the application shows none."""
        return self.shown.dialect.is_opaque and not self.sent.of(kind)

    @property
    def is_stopped(self) -> bool:
        """Whether the user stopped the answer, or the application gave up listening."""
        finishes = set(self.shown.transcript.finishes)
        return bool(_STOPPED & finishes) or self.shown.exchange.end in UNHEARD

    @property
    def broke_off(self) -> bool:
        """Whether the last answer of the provider is not all there."""
        return not self.calls[-1].is_whole

    @property
    def was_recorded(self) -> bool:
        """Whether all that the provider sent was recorded."""
        return all(each.exchange.end not in UNHEARD for each in self.calls)

    @property
    def are_whole(self) -> bool:
        is_stopped = self.is_stopped or not self.was_recorded
        return not (self.broke_off or is_stopped) and self.shown.is_whole


class HopDifference(Struct, frozen=True):
    """Where both sides part: the event of the provider, and that of the application."""

    message: str
    made: EventPlace
    sent: EventPlace
    change: Change = Change.NONE


Compared = HopDifference | bool | str
"""A difference; True where both are alike, False where there was nothing to compare, a text where
nothing can be: it says why."""


def first_other(one: Sequence[Any], other: Sequence[Any]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def difference_at(
    hops: ApplicationHops, message: str, made: Sequence[Any], sent: Sequence[Any]
) -> HopDifference:
    """The difference at the first of either, or at the end of that side."""
    first, second = (
        (side[0].first if isinstance(side[0], SidePart) else side[0][1]) if side else last
        for side, last in ((made, hops.made.last), (sent, hops.sent.last))
    )
    return HopDifference(message, first, second)
