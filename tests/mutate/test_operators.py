"""Operators: every one finds its place, edits bytes, and leaves the others as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest

from conformance.core.errors import UsageError
from conformance.dialects import SUPPORTED
from conformance.editing.operator import choose_sites
from conformance.editing.stream import Stream
from conformance.mutate import (
    FAMILIES,
    OPERATORS,
    BaseRecording,
    Operator,
    find_operators,
    make_mutants,
    shipped_bases,
    take_apart,
)
from tests.each import each_in_blocks

# Operators that edit every line, renumber everything, or repeat the stream.
EVERYWHERE = ("F1-", "F2-", "F6-", "F8-", "X8-", "X1-no-role", "I1-", "U5-less-usage")
# Operators that edit every event of a text, an item, a part or a call, or all that state a text.
SEVERAL = (
    *("B1-", "B2-", "B3-", "B4-", "B5-", "B10-", "B11-", "E2-", "S7-", "T2-marker-in-item-name"),
    *("I3-", "I5-", "I9-", "I10-block-index-reused", "I10-steps-from-one"),
    *("N11-step-repeated", "N2-", "N12-"),
    *("U4-no-finish", "U5-no-usage", "U5-delta-without-usage", "U5-response-without-usage"),
    *(
        "X7-",
        "X10-",
        "X18-blank",
        "X15-thinking-block",
        "B12-",
        "B13-",
        "B14-",
        "B15-",
        "B16-",
        "B17-",
        "F13-",
    ),
    *("X14-thought-step-lost", "X24-whole-again", "X27-try-left", "N11-outside-step"),
)
OF_SEVERAL_EVENTS = [each for each in OPERATORS if each.name.startswith(SEVERAL)]
OF_FEW_EVENTS = [each for each in OPERATORS if not each.name.startswith((*EVERYWHERE, *SEVERAL))]


@cache
def bases() -> tuple[BaseRecording, ...]:
    return tuple(base for base in shipped_bases() if not base.has_client)


@cache
def streams() -> tuple[Stream, ...]:
    return tuple(stream for base in bases() for stream in base.streams())


def ids(operators: Iterable[Operator]) -> list[str]:
    return [operator.name for operator in operators]


def test_names_are_unique_in_a_dialect_and_begin_with_a_family() -> None:
    for dialect in SUPPORTED:
        mine = [each for each in OPERATORS if each.dialect in ("", dialect)]
        assert [name for name, count in Counter(ids(mine)).items() if count > 1] == []
    assert {operator.family for operator in OPERATORS} <= set(FAMILIES)


def test_operators_that_share_a_name_have_the_same_outcome() -> None:
    outcomes = {(operator.name, operator.must) for operator in OPERATORS}
    assert len(outcomes) == len(set(ids(OPERATORS)))


@each_in_blocks(12, lambda: OPERATORS)
def test_operator_acts_on_a_shipped_recording(operator: Operator) -> None:
    # Not at every place that it looks at: of the entries of a request some hold no thinking.
    assert any(True for stream in streams() for _ in make_mutants(operator, stream, most=9))


@pytest.mark.one_in(3)
@each_in_blocks(24, lambda: OF_FEW_EVENTS)
def test_pieces_that_were_not_edited_keep_their_bytes(operator: Operator) -> None:
    """Before renumbering, an edit is one event or two."""
    for stream in streams():
        for site in choose_sites(operator.sites(stream), 1) if _applies(operator, stream) else ():
            edited = operator.edit(stream, site)
            kept = Counter(piece.raw for piece in stream.pieces)
            made = Counter(piece.raw for piece in edited.pieces) if edited is not None else kept
            assert sum((made - kept).values()) <= 2


@pytest.mark.one_in(2)
@each_in_blocks(8, lambda: OF_SEVERAL_EVENTS)
def test_edits_of_several_events_leave_the_others_alone(operator: Operator) -> None:
    for stream in streams():
        for site in choose_sites(operator.sites(stream), 1) if _applies(operator, stream) else ():
            edited = operator.edit(stream, site)
            if edited is not None and len(stream.pieces) > 1:
                kept = {piece.raw for piece in stream.pieces}
                assert not kept.isdisjoint(piece.raw for piece in edited.pieces)


def _applies(operator: Operator, stream: Stream) -> bool:
    return operator.dialect in {"", stream.dialect}


@pytest.mark.slow
def test_mutants_are_the_same_every_time() -> None:
    for operator in OPERATORS:
        for stream in streams()[::7]:
            first = list(make_mutants(operator, stream, seed=3))
            assert first == list(make_mutants(operator, stream, seed=3))


def test_shipped_recordings_come_back_from_their_pieces() -> None:
    for stream in streams():
        again = take_apart(stream.result(), stream.dialect)
        assert again.pieces == stream.pieces
        assert stream.result() == stream.exchange


@pytest.mark.parametrize(
    ("sites", "most", "expected"),
    [
        ([], 3, []),
        ([4, 5], 3, [4, 5]),
        (list(range(9)), 3, [0, 3, 6]),
        (list(range(10)), 4, [0, 2, 5, 7]),
    ],
)
def test_places_are_chosen_evenly(sites: list[int], most: int, expected: list[int]) -> None:
    assert choose_sites(sites, most) == expected


def test_seeds_choose_other_places() -> None:
    assert choose_sites(range(100), 3, 1) != choose_sites(range(100), 3, 2)


def test_unknown_operator_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no operator fits 'X6-duplicate-dleta'"):
        find_operators("X6-duplicate-dleta")


def test_there_are_five_bases_per_dialect() -> None:
    found = Counter(stream.dialect for stream in streams())
    assert {operator.dialect for operator in OPERATORS} - {""} <= set(found)
    assert min(found[operator.dialect] for operator in OPERATORS if operator.dialect) >= 5
