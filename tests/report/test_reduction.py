"""What is left of a recording still fails, alone and in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.cassette import Cassette, Recording, read
from conformance.core import shipped
from conformance.editing.piece import Piece
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.report.reduction import ReducedRecording, minimise_items, reduce_recording
from conformance.report.selection import SelectedFinding, select_finding
from conformance.rules.verdicts import Verdict

RULES = Rulebook.load()
MUTANTS = shipped.cassettes() / "mutants"
SAMPLE = sorted(path for path in MUTANTS.rglob("*.jsonl") if "demo" not in path.parts)[::28]


def name_of(path: Path) -> str:
    return path.relative_to(MUTANTS).as_posix().removesuffix(".cassette.jsonl")


def rule_of(path: Path) -> str:
    """The rule that a mutant is there for; several may be there for one."""
    return next(iter(read(path).header.expect))


def selected(path: Path) -> SelectedFinding:
    folders = tuple(f for f in [shipped.cassettes() / "profiles"] if f.is_dir())
    return select_finding(rule_of(path), [path], CheckChoices(folders=folders), RULES)


def failing(cassette: Cassette, one: SelectedFinding) -> set[str]:
    recording = InMemory(one.recording.path, "cassette", cassette)
    streams = check_recording(recording, RULES, one.choices)
    return {r for s in streams for r, verdict in s.verdicts.items() if verdict is Verdict.FAIL}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", SAMPLE, ids=name_of)
def test_what_is_left_fails_the_rule_and_no_other(path: Path) -> None:
    one = selected(path)
    before = failing(one.recording.cassette, one)
    small = reduce_recording(one, one.recording.cassette, RULES, trials=120)
    assert small is not None
    assert small.events <= small.events_before
    assert small.finding.id == one.finding.id
    assert rule_of(path) in failing(small.cassette, one) <= before


def test_a_stream_of_free_deltas_shrinks_to_the_fault() -> None:
    one = selected(MUTANTS / "wire/chat/delta-types.cassette.jsonl")
    small = reduce_recording(one, one.recording.cassette, RULES)
    assert small is not None
    assert small.is_complete
    assert small.events < small.events_before / 2


def test_exchanges_that_do_not_matter_go() -> None:
    path = MUTANTS / "wire/chat/delta-types.cassette.jsonl"
    one = selected(path)
    (exchange,) = one.recording.exchanges
    twice = replace(
        one.recording.cassette, exchanges=(exchange, replace(exchange, number=2)), sealed=False
    )
    recording = Recording(path, "cassette", twice)
    small = reduce_recording(replace(one, recording=recording), twice, RULES, trials=10)
    assert small is not None
    assert [each.number for each in small.cassette.exchanges] == [1]


def test_a_comparison_keeps_both_exchanges() -> None:
    path = MUTANTS / "stripping/opt-in/same-text.cassette.jsonl"
    small = reduce_recording(selected(path), selected(path).recording.cassette, RULES, trials=30)
    assert small is not None
    assert len(small.cassette.exchanges) == 2


def test_time_and_trials_bound_it() -> None:
    one = selected(MUTANTS / "wire/chat/delta-types.cassette.jsonl")
    for small in (
        reduce_recording(one, one.recording.cassette, RULES, trials=1),
        reduce_recording(
            one, one.recording.cassette, RULES, seconds=0, clock=iter(range(99)).__next__
        ),
    ):
        assert small is not None
        assert not small.is_complete
        assert small.events == small.events_before or small.events > 3


def test_what_does_not_fail_is_not_reduced() -> None:
    one = selected(MUTANTS / "wire/chat/delta-types.cassette.jsonl")
    empty = replace(one.recording.exchanges[0], chunks=())
    found: ReducedRecording | None = reduce_recording(
        one, replace(one.recording.cassette, exchanges=(empty,), sealed=False), RULES
    )
    assert found is None


@given(size=st.integers(1, 60), culprits=st.sets(st.integers(0, 59), max_size=4))
def test_nothing_but_the_culprits_is_left(size: int, culprits: set[int]) -> None:
    wanted = {n for n in culprits if n < size}
    items = [Piece(str(n).encode()) for n in range(size)]

    def fails(pieces: object) -> bool:
        assert isinstance(pieces, list)
        return wanted <= {int(piece.raw) for piece in pieces}

    left = {int(piece.raw) for piece in minimise_items(items, fails)}
    assert wanted <= left
    assert len(left) == max(len(wanted), 1)
