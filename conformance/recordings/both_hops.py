"""Recordings of both hops given as files: an application's stream, and its provider's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

from msgspec import field
from msgspec.structs import replace

from conformance import dialects
from conformance.cassette import Recording, find_recordings, open_recording
from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange
from conformance.evidence.application import APP

_IN_FRONT: Final = frozenset({APP, "downstream"})


class PairedRecording(Recording, frozen=True):
    """An application's recording, and after its exchanges those of its provider.

    `sources` says of these where they are: a recording, and the number there.
    """

    sources: dict[int, tuple[Recording, int]] = field(default_factory=dict)

    @property
    def judged(self) -> tuple[Exchange, ...]:
        return tuple(each for each in self.exchanges if each.number not in self.sources)

    def source_of(self, exchange: int) -> tuple[Path, int]:
        recording, number = self.sources.get(exchange, (self, exchange))
        return recording.path, number


def open_upstream(paths: Sequence[Path | str]) -> list[Recording]:
    """The recordings of a provider, in the order given. Raises UsageError where a path has none."""
    found: list[Recording] = []
    for path in paths:
        files = find_recordings([path]).recordings
        if not files:
            raise UsageError("no recording for --upstream", place=Place(str(path)))
        found += map(open_recording, files)
    return found


def is_upstream_hop(recording: Recording, exchange: Exchange) -> bool:
    """Whether an exchange is what a gateway or an application had from its own provider."""
    return exchange.hop == "upstream" and any(e.hop in _IN_FRONT for e in recording.exchanges)


def stated_dialect(recording: Recording, exchange: Exchange, chosen: str | None) -> str | None:
    """What is known of the dialect of an exchange without a look at its bytes.

    `chosen` is the user's word. It is about whom the recording is of: a provider behind may answer
    in another API, and never answers in that of an application.
    """
    if not is_upstream_hop(recording, exchange):
        return chosen or exchange.dialect or recording.header.dialect
    return None if exchange.dialect in dialects.APPLICATIONS else exchange.dialect


def pair_recordings(shown: Recording, providers: Sequence[Recording]) -> Recording:
    """One recording of both hops, the provider's answers in the order given.

    Where none is given it is the application's own. Raises UsageError where that holds several
    exchanges, or hops of its own.
    """
    if not providers:
        return shown
    if len(shown.exchanges) != 1 or shown.exchanges[0].hop not in ("", APP):
        message = "--upstream goes with a recording of one answer of an application"
        hint = "a cassette with both hops needs no --upstream"
        raise UsageError(message, place=Place(str(shown.path)), hint=hint)
    (answer,) = shown.exchanges
    numbers = count(answer.number + 1)
    sources: dict[int, tuple[Recording, int]] = {}
    exchanges = [replace(answer, hop=APP)]
    for recording in providers:
        for exchange in recording.exchanges:
            number = next(numbers)
            dialect = exchange.dialect or recording.header.dialect
            place = {"scenario": answer.scenario, "role": answer.role, "hop": "upstream"}
            exchanges.append(replace(exchange, number=number, dialect=dialect, after=None, **place))
            sources[number] = (recording, exchange.number)
    cassette = replace(shown.cassette, exchanges=tuple(exchanges))
    return PairedRecording(shown.path, shown.kind, cassette, sources=sources)
