"""In which circumstances a fault came: only streamed, in one API, from one sender, in parallel.

A circumstance is reported if every stream with the fault has it, streams without it were judged
too, and random draws would give this at most once in `_CHANCE` times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import comb
from typing import Final

from conformance.judging.result import StreamResult

_CHANCE: Final = 20
_ELSEWHERE: Final = "elsewhere"


def lone_circumstances(judged: Iterable[tuple[StreamResult, bool]]) -> tuple[str, ...]:
    """A sentence for each kind of streams that alone have the fault.

    `judged` are the streams in which the rule had something to say, with whether they have it:
    `only streamed (8 of 8, 0 of 8 in bodies)`.
    """
    numbers: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for stream, has_it in judged:
        for aspect, kind in _kinds(stream):
            everywhere, faulty = numbers.setdefault(aspect, (Counter(), Counter()))
            everywhere[kind] += 1
            faulty[kind] += has_it
    sentences: dict[tuple[int, int], str] = {}
    for everywhere, faulty in numbers.values():
        # If several aspects divide the streams in the same way, the first is reported.
        for own, having, sentence in _lone_kind(everywhere, faulty):
            sentences.setdefault((own, having), sentence)
    return tuple(sentences.values())


def _kinds(stream: StreamResult) -> Iterator[tuple[str, str]]:
    """The known circumstances of a stream, in words that follow `only`."""
    if stream.framing:
        yield "framing", "in bodies" if stream.framing == "body" else "streamed"
    yield "dialect", f"in {stream.dialect}"
    yield "profile", f"under profile {stream.profile}"
    if stream.beside is not None:
        yield (
            "beside",
            "while other requests run" if stream.beside else "with one request at a time",
        )
    if stream.target:
        yield "target", f"from {stream.target}"


def _lone_kind(everywhere: Counter[str], faulty: Counter[str]) -> Iterator[tuple[int, int, str]]:
    """How many streams are of the kind that alone has the fault, how many have it, the sentence."""
    kinds = [kind for kind, number in faulty.items() if number]
    if len(kinds) != 1 or len(everywhere) == 1:
        return
    (kind,) = kinds
    total, own, having = everywhere.total(), everywhere[kind], faulty[kind]
    if comb(own, having) * _CHANCE > comb(total, having):
        return
    others = [each for each in everywhere if each != kind]
    where = others[0] if len(others) == 1 else _ELSEWHERE
    yield own, having, f"only {kind} ({having} of {own}, 0 of {total - own} {where})"
