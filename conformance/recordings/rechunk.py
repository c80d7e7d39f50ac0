"""Tries whether verdicts and findings depend on how the bytes were cut. They must not.

A recording is judged in one piece, as it was cut, byte by byte, at event ends, and under random
cuts. A difference is our own fault; the cuts that show it are reduced before it is reported. Clocks
are left out throughout: other chunks would have other times.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.core.errors import ConformanceError, HarnessError, Place
from conformance.core.events import Chunk, Exchange
from conformance.core.framing import exchange_frames
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_trusted, recording_files
from conformance.recordings.choices import CheckChoices

_SIZES: Final = (1, 2, 3, 7, 40, 300, 4096)
_BYTEWISE: Final = 256 * 1024  # bytes of a body that come one by one; the rest comes at once
_TRIALS: Final = 200  # judgements spent on reducing the cuts
_SHOWN: Final = 24  # chunk sizes in a message

# Where the bodies are cut: the exchange's place in the recording, and the 0-based byte.
_Cut = tuple[int, int]


class _ChunkCuts(Struct, frozen=True):
    name: str
    cuts: list[_Cut]


def rechunk_paths(
    paths: Sequence[Path | str], rulebook: Rulebook, choices: CheckChoices, *, rounds: int
) -> None:
    """Tries every recording that can be judged, under `rounds` random chunkings and the others.

    Raises HarnessError for the first difference.
    """
    for path in recording_files(paths):
        try:
            recording = open_recording(path, dialect=choices.dialect)
        except ConformanceError:
            continue  # the check itself shows it
        rechunk_recording(recording, rulebook, choices, rounds=rounds)


def rechunk_recording(
    recording: Recording, rulebook: Rulebook, choices: CheckChoices, *, rounds: int
) -> int:
    """How many chunkings agree with the recording in one piece.

    Raises HarnessError with the chunking that does not: its seed and, reduced, its sizes.
    """

    def judged(cuts: Sequence[_Cut]) -> _Outcome:
        return _judged_outcome(_recut_recording(recording, cuts), rulebook, choices)

    whole = judged([])
    cuttings = _all_cuttings(recording, rounds)
    for cutting in cuttings:
        if judged(cutting.cuts) != whole:
            cuts = _reduce_cuts(cutting.cuts, lambda cuts: judged(cuts) != whole)
            raise _chunking_fault(
                recording, cutting.name, cuts, _first_difference(whole, judged(cuts))
            )
    return len(cuttings)


_Outcome = tuple[StreamResult, ...] | str


def _judged_outcome(recording: Recording, rulebook: Rulebook, choices: CheckChoices) -> _Outcome:
    try:
        return tuple(check_trusted(recording, rulebook, choices))
    except HarnessError:
        raise
    except ConformanceError as err:
        return str(err)  # that it cannot be judged must not depend on the cuts, either


def _all_cuttings(recording: Recording, rounds: int) -> list[_ChunkCuts]:
    return [
        _cut_each(recording, "as recorded", _recorded_cuts),
        _cut_each(recording, "byte by byte", _byte_cuts),
        _cut_each(recording, "at event ends", _event_ends),
        *(
            _cut_each(recording, f"seed {number}", partial(_random_cuts, number))
            for number in range(rounds)
        ),
    ]


def _cut_each(
    recording: Recording, name: str, cut: Callable[[Exchange], Iterator[int]]
) -> _ChunkCuts:
    each = enumerate(recording.exchanges)
    return _ChunkCuts(name, [(at, byte) for at, exchange in each for byte in cut(exchange) if byte])


def _recorded_cuts(exchange: Exchange) -> Iterator[int]:
    yield from accumulate(len(chunk.data) for chunk in exchange.chunks[:-1])


def _byte_cuts(exchange: Exchange) -> Iterator[int]:
    yield from range(1, min(_body_length(exchange), _BYTEWISE))


def _event_ends(exchange: Exchange) -> Iterator[int]:
    # A comment inside an event comes out before the event does.
    yield from sorted({frame.offset for frame, _ in exchange_frames(exchange)})


def _random_cuts(seed: int, exchange: Exchange) -> Iterator[int]:
    rng = random.Random(f"{seed}/{exchange.number}")  # noqa: S311  # repeatable, not secret
    at, end = rng.choice(_SIZES), _body_length(exchange)
    while at < end:
        yield at
        at += rng.choice(_SIZES)


def _body_length(exchange: Exchange) -> int:
    return sum(len(chunk.data) for chunk in exchange.chunks)


def _recut_recording(recording: Recording, cuts: Sequence[_Cut]) -> Recording:
    at: list[list[int]] = [[] for _ in recording.exchanges]
    for exchange, byte in cuts:
        at[exchange].append(byte)
    whole = zip(recording.exchanges, at, strict=True)
    exchanges = tuple(replace(each, chunks=_cut_pieces(each, where)) for each, where in whole)
    return replace(recording, cassette=replace(recording.cassette, exchanges=exchanges))


def _cut_pieces(exchange: Exchange, at: Sequence[int]) -> tuple[Chunk, ...]:
    data = exchange.body
    ends = [0, *at, len(data)]
    return tuple(Chunk(data[start:stop]) for start, stop in pairwise(ends))


def _reduce_cuts(cuts: list[_Cut], differs: Callable[[list[_Cut]], bool]) -> list[_Cut]:
    """Fewer cuts that still make the difference: parts are left out, ever smaller ones."""
    trials, part = _TRIALS, max(1, len(cuts) // 2)
    while part and trials:
        at = 0
        while at < len(cuts) and trials:
            trials -= 1
            fewer = cuts[:at] + cuts[at + part :]
            if differs(fewer):
                cuts = fewer
            else:
                at += part
        part //= 2
    return cuts


def _chunking_fault(
    recording: Recording, name: str, cuts: Sequence[_Cut], why: str
) -> HarnessError:
    sizes = []
    for number, exchange in enumerate(recording.exchanges):
        ends = [0, *(byte for at, byte in cuts if at == number), _body_length(exchange)]
        if len(ends) > 2:
            lengths = [str(stop - start) for start, stop in pairwise(ends)]
            more = " ..." if len(lengths) > _SHOWN else ""
            sizes.append(f"{' '.join(lengths[:_SHOWN])}{more} (exchange {exchange.number})")
    message = f"the result depends on how the bytes are cut ({name}): {why}; chunk sizes "
    return HarnessError(message + ", ".join(sizes), place=Place(str(recording.path)))


def _first_difference(whole: _Outcome, cut: _Outcome) -> str:
    """The first thing that differs."""
    if isinstance(whole, str) or isinstance(cut, str):
        return f"{_outcome_text(whole)} in one piece, {_outcome_text(cut)} when cut"
    for one, other in zip(whole, cut, strict=False):
        for rule in one.verdicts.keys() | other.verdicts.keys():
            verdicts = one.verdicts.get(rule), other.verdicts.get(rule)
            if verdicts[0] != verdicts[1]:
                return f"{rule} is {verdicts[0]} in one piece, {verdicts[1]} when cut"
        for mine, its in zip(one.findings, other.findings, strict=False):
            if mine != its:
                return f"the finding of {mine.rule} at event {mine.event} differs"
    return "the results differ"


def _outcome_text(outcome: _Outcome) -> str:
    return repr(outcome) if isinstance(outcome, str) else "judged"
