"""Exchanges that many recordings share, judged once: a mutant is its base with one exchange edited.

Invariant: what is given equals what `check_wire` gives. So it is given only for the very same
exchange, judged by the very same rules, and where no rule goes on over several exchanges. Ledgers
are written to: each recording gets a separate view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack

from msgspec import Struct
from msgspec.structs import fields, replace

from conformance.core.events import Chunk, Ending, Event, Exchange
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.fast.running import check_wire
from conformance.judging.scenario import ScenarioJudge
from conformance.judging.transcript import Transcript
from conformance.judging.view import EventListener, JudgedView, JudgeSetting


class WireOptions(TypedDict, total=False):
    """The options of `check_wire`."""

    scenario: ScenarioJudge | None
    is_last: bool
    transcript: Transcript | None
    listener: EventListener | None


class _JudgedBytes(Struct, frozen=True):
    """What came of one exchange, and all that those who listened were given."""

    setting: JudgeSetting
    is_last: bool
    view: JudgedView
    transcript: Transcript | None
    events: list[Sequence[Event]] | None

    def is_of(self, setting: JudgeSetting, *, is_last: bool, kept: tuple[bool, bool]) -> bool:
        """Whether it holds for this setting too; `kept`: a transcript, and events."""
        was = self.setting
        return (
            setting.bound is was.bound
            and setting.dialect is was.dialect
            and _facts(setting) == _facts(was)
            and (is_last, kept)
            == (self.is_last, (self.transcript is not None, self.events is not None))
        )


class UnchangedExchanges:
    """Judges as `check_wire` does, and each of `exchanges` once for all that hold it."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._shared = {id(each): each for each in exchanges}  # held, so that no other has their id
        self._judged: dict[int, _JudgedBytes] = {}
        self._dialects: dict[int, str | None] = {}

    def recognise(self, exchange: Exchange) -> str | None:
        """As `recognised_dialect`."""
        if id(exchange) not in self._shared:
            return recognised_dialect(exchange)
        if id(exchange) not in self._dialects:
            self._dialects[id(exchange)] = recognised_dialect(exchange)
        return self._dialects[id(exchange)]

    def check(
        self,
        setting: JudgeSetting,
        exchange: Exchange,
        chunks: Iterable[Chunk],
        end: Ending,
        **options: Unpack[WireOptions],
    ) -> JudgedView:
        goes_on = options.get("scenario") is not None and bool(setting.bound.scenario.rules)
        if goes_on or id(exchange) not in self._shared:
            return check_wire(setting, exchange, chunks, end, **options)
        transcript, listener = options.get("transcript"), options.get("listener")
        is_last = options.get("is_last", True)
        found = self._judged.get(id(exchange))
        kept = transcript is not None, listener is not None
        if found is None or not found.is_of(setting, is_last=is_last, kept=kept):
            found = _judged_anew(setting, exchange, is_last=is_last, kept=kept)
            self._judged[id(exchange)] = found
        _hand_over(found, transcript, listener)
        return replace(found.view)


def _facts(setting: JudgeSetting) -> tuple[object, ...]:
    return setting.file, setting.fidelity, setting.named, setting.keep, setting.notes


def _judged_anew(
    setting: JudgeSetting, exchange: Exchange, *, is_last: bool, kept: tuple[bool, bool]
) -> _JudgedBytes:
    transcript = Transcript(exchange) if kept[0] else None
    events: list[Sequence[Event]] | None = [] if kept[1] else None
    view = check_wire(
        *(setting, exchange, exchange.chunks, exchange.end),
        is_last=is_last,
        transcript=transcript,
        listener=events.append if events is not None else None,
    )
    return _JudgedBytes(setting, is_last, view, transcript, events)


def _hand_over(
    found: _JudgedBytes, transcript: Transcript | None, listener: EventListener | None
) -> None:
    if transcript is not None and found.transcript is not None:
        for each in fields(Transcript):
            setattr(transcript, each.name, getattr(found.transcript, each.name))
    if listener is not None:
        for events in found.events or ():
            listener(events)
