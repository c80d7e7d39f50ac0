"""One stream, read twice: by the toolkit's dialects and by the reference client.

They share no code, so that what both say of the same bytes is worth comparing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.judging.fast.running import check_wire
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.profiles.profile import Profile
from conformance.recordings.choices import CheckChoices, choose_profile
from reference_impl.client import Event, Reader, Reading
from reference_impl.client.apis import OF_DIALECT
from reference_impl.client.wire import Api

APIS: Final[Mapping[str, Api]] = OF_DIALECT
# Deltas -> the field that is merged.
_OF_RULES: Final = frozenset({"flushed", "resumed", "shown", "split"})
DELTAS: Final = {
    "refusal.delta": "text",
    "text.delta": "text",
    "thinking.delta": "text",
    "tool.delta": "arguments",
}
Plain = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """A stream under the profile by which it is read."""

    name: str
    dialect: str
    profile: Profile
    exchange: Exchange

    @property
    def chunks(self) -> list[bytes]:
        return [chunk.data for chunk in self.exchange.chunks]

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)


def case(name: str, dialect: str, profile: str | None, exchange: Exchange) -> Case:
    chosen, _ = choose_profile(get(dialect), CheckChoices(profile=profile), None)
    return Case(name, dialect, chosen, exchange)


def engine_events(given: Case) -> list[Plain]:
    """What the toolkit makes of the bytes."""
    bound = _rules().bound(given.profile)
    setting = JudgeSetting(get(given.dialect), given.profile, bound, named=True, keep=True)
    exchange = given.exchange
    result = check_wire(setting, exchange, exchange.chunks, exchange.end).result
    semantic = (event for event in result.events if event.layer == "semantic")
    return [(event.type, {"choice": 0, **reported(event.data)}) for event in semantic]


def reported(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields that clients report; what a reader adds for rules is none of them."""
    return {name: value for name, value in data.items() if name not in _OF_RULES}


@cache
def _rules() -> Rulebook:
    """One small suite: the events are wanted, not the verdicts."""
    return Rulebook.load(["wire/sse"])


def client_events(given: Case, chunks: Sequence[bytes] | None = None) -> list[Plain]:
    """What the reference client makes of them, in the chunks of the recording or in others."""
    reader = Reader(APIS[given.dialect], reading(given.profile), status=_status(given.exchange))
    events: list[Event] = []
    for chunk in given.chunks if chunks is None else chunks:
        events += reader.feed(chunk)
    events += reader.close(given.exchange.end)
    return [(event.type, {"choice": event.choice, **event.data}) for event in events]


def reading(profile: Profile) -> Reading:
    """How a client has to be told to read the text of a system."""
    pairs = tuple((opens, closes) for opens, closes in profile.knobs.get("markers") or ())
    opened = profile.knobs.get("think_opened_by") == "prompt"
    return Reading(pairs, opened_by_prompt=opened)


def merged(events: Iterable[Plain]) -> list[Plain]:
    """The events with adjacent deltas of one place joined.

    That a delta is `blank` is a note of the toolkit's, which no client has to make.
    """
    made: list[Plain] = []
    for kind, noted in events:
        data = {name: value for name, value in noted.items() if name != "blank"}
        field = DELTAS.get(kind)
        if field and made and made[-1][0] == kind and _place(made[-1]) == _place((kind, data)):
            made[-1][1][field] += data[field]
        else:
            made.append((kind, data))
    return made


def _place(event: Plain) -> dict[str, Any]:
    return {name: value for name, value in event[1].items() if name != DELTAS[event[0]]}


def _status(exchange: Exchange) -> int:
    return (exchange.response.status if exchange.response else None) or 200
