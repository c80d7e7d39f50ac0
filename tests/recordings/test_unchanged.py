"""Exchanges that a mutant leaves as they are: judged once, and nothing else comes of that."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from conformance.editing.operator import make_mutants
from conformance.judging.fast.running import check_wire
from conformance.judging.rulebook import Rulebook
from conformance.mutate import shipped_bases
from conformance.mutate.base_recordings import BaseRecording
from conformance.mutate.catalogue import OPERATORS
from conformance.mutate.client_defects import client_mutants
from conformance.recordings import unchanged
from conformance.recordings.check import check_trusted
from conformance.recordings.in_memory import InMemory

RULEBOOK = Rulebook.load()


@cache
def bases() -> list[BaseRecording]:
    return shipped_bases()


def several() -> list[BaseRecording]:
    return [base for base in bases() if len(base.cassette.exchanges) > 1]


def mutants(base: BaseRecording, number: int) -> list[InMemory]:
    """Some mutants of each exchange, by other operators for each base."""
    found = []
    for stream in base.streams():
        operators = OPERATORS[number % 7 :: 7]
        made = [mutant for each in operators for mutant in make_mutants(each, stream, most=1)]
        if base.has_client:
            made = list(client_mutants(stream.exchange))
        found += [
            InMemory(base.recording.path, "cassette", base.with_exchange(each.exchange))
            for each in made[:2]
        ]
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("part", range(3))
def test_mutant_is_judged_as_if_whole(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []

    def counted(*how: Any, **chosen: Any) -> Any:
        judged.append(how[1].number)
        return check_wire(*how, **chosen)

    monkeypatch.setattr(unchanged, "check_wire", counted)
    exchanges = 0
    for number, base in enumerate(several()[part::6]):
        shared = base.unchanged()
        for recording in mutants(base, number):
            exchanges += len(recording.exchanges)
            whole = check_trusted(recording, RULEBOOK, base.choices)
            assert check_trusted(recording, RULEBOOK, base.choices, shared) == whole, base.name
    assert exchanges > 60
    assert len(judged) < 0.7 * exchanges


def test_what_is_written_of_one_recording_does_not_show_in_the_next() -> None:
    base = several()[0]
    shared = base.unchanged()
    first = check_trusted(base.recording, RULEBOOK, base.choices, shared)
    made = mutants(base, 1)
    assert any(check_trusted(each, RULEBOOK, base.choices, shared) != first for each in made)
    assert check_trusted(base.recording, RULEBOOK, base.choices, shared) == first


def test_one_exchange_alone_needs_nobody_who_remembers() -> None:
    alone = next(each for each in bases() if len(each.cassette.exchanges) == 1)
    assert alone.unchanged() is None
