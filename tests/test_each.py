"""One test over many cases: each case is tried, and each that fails is named."""

from __future__ import annotations

import pytest

from tests.each import each, each_in_blocks, each_row


def test_every_case_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @each((1, 2, 3), "ab")
    def check(number: int, letter: str) -> None:
        tried.append((number, letter))
        assert number != 2

    with pytest.raises(ExceptionGroup, match="2 of 6 cases fail") as caught:
        check()
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["in case 2 a"],
        ["in case 2 b"],
    ]
    assert len(tried) == 6


def test_a_test_without_cases_fails() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each_row([])(print)()


def test_blocks_hold_every_case_once(request: pytest.FixtureRequest) -> None:
    tried: list[int] = []

    @each_in_blocks(3, lambda: range(8))
    def check(number: int, request: object) -> None:
        tried.append(number)
        assert request
        if number == 7:
            raise OSError("gone")

    for block in (0, 2):
        check(block, request=request)
    with pytest.raises(OSError, match="gone") as caught:
        check(1, request=request)
    assert caught.value.__notes__ == ["in case 7"]
    assert sorted(tried) == list(range(8))


def _passes(number: int) -> None:
    assert number


def test_an_empty_block_fails() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each_in_blocks(2, lambda: [1])(_passes)(1)
