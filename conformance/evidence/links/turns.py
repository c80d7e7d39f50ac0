"""Numbers each exchange as a turn of its conversation, by the answers that its request continues.

An exchange is one turn after the latest answer that its request brings back. Answers in a request
that were not recorded do not count as turns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.judging.result import CarriedAnswer, Finding, StreamResult

_LAST: Final = (sys.maxsize,)  # where an answer stayed with the server
_Place = tuple[str, int]


def with_turns(results: Sequence[StreamResult]) -> list[StreamResult]:
    """The results with their turns, also in the events that findings refer to.

    Unchanged if no request continues another exchange.
    """
    before = {_place(each): _before(each) for each in results if each.links}
    if not before:
        return list(results)
    turns = _turns(before)
    for place in (place for each in results for place in _carried(each)):
        turns.setdefault(place, 1)
    return [_with_turn(each, turns) for each in results]


def _place(result: StreamResult) -> _Place:
    return result.file, result.exchange


def _before(result: StreamResult) -> _Place:
    """The exchange whose answer stands last in the request."""
    last = max(result.links, key=_position)
    return last.file or result.file, last.exchange


def _carried(result: StreamResult) -> Iterator[_Place]:
    """All exchanges whose answers come back, and those whose answers fit as well."""
    for link in result.links:
        files = (link.file, *link.other_files) if link.file else [""] * (1 + len(link.others))
        for file, exchange in zip(files, (link.exchange, *link.others), strict=False):
            yield file or result.file, exchange


def _position(link: CarriedAnswer) -> tuple[int, ...]:
    return link.entries[-1:] or _LAST


def _turns(before: dict[_Place, _Place]) -> dict[_Place, int]:
    found: dict[_Place, int] = {}
    for place in before:
        way: dict[_Place, None] = {}
        at: _Place | None = place
        # Files say nothing of their order: two may each seem to carry the other on.
        while at is not None and at not in way:
            way[at] = None
            at = None if at in found else before.get(at)
        first, *following = reversed(way)
        turn = found.setdefault(first, 1)
        for each in following:
            turn += 1
            found[each] = turn
    return found


def _with_turn(result: StreamResult, turns: dict[_Place, int]) -> StreamResult:
    turn = turns.get(_place(result), 0)
    findings = tuple(_placed(result.findings, turns)) if result.links else result.findings
    return replace(result, turn=turn, findings=findings) if turn else result


def _placed(findings: Iterable[Finding], turns: dict[_Place, int]) -> Iterable[Finding]:
    for each in findings:
        given = each.upstream
        turn = turns.get((given.file, given.exchange), 0) if given is not None else 0
        if given is not None and given.side == "answer" and turn:
            yield replace(each, upstream=replace(given, turn=turn))
        else:
            yield each
