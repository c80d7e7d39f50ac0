"""One test over many cases alike, where a test item for each would cost more than the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature, signature
from itertools import product
from pathlib import Path
from typing import Any

import pytest

FAULTS = (AssertionError, LookupError, TypeError, ValueError)


def each(*axes: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """The test is called with every combination; all that fail are raised together, each named.

    What it takes besides are fixtures, which all its calls share.
    """
    return each_row(product(*axes))


def each_row(
    rows: Iterable[tuple[Any, ...]],
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """As `each`, with the arguments of every call."""
    cases = tuple(rows)

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def test(**fixtures: Any) -> None:
            _try_each(check, cases, fixtures)

        fixtures = list(signature(check).parameters.values())[len(cases[0]) if cases else 0 :]
        return _with_parameters(test, check, fixtures)

    return decorate


def each_in_blocks(
    blocks: int, values: Callable[[], Iterable[Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `each`, of one list and in so many items: processes share them, each tier has some.

    The list is made where the first block runs, not where tests are collected.
    """

    @cache
    def cases() -> tuple[tuple[Any, ...], ...]:
        return tuple((value,) for value in values())

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def test(block: int, **given: Any) -> None:
            _try_each(check, cases()[block::blocks], given)

        own = Parameter("block", Parameter.POSITIONAL_OR_KEYWORD)
        _, *fixtures = signature(check).parameters.values()
        _with_parameters(test, check, [own, *fixtures])
        in_blocks: Callable[..., None] = pytest.mark.parametrize("block", range(blocks))(test)
        return in_blocks

    return decorate


def _try_each(
    check: Callable[..., None], cases: Sequence[tuple[Any, ...]], fixtures: Mapping[str, Any]
) -> None:
    faults: list[Exception] = []
    for case in cases:
        try:
            check(*case, **fixtures)
        except Exception as fault:
            fault.add_note(f"in case {' '.join(map(case_name, case))}")
            if not isinstance(fault, FAULTS):
                raise
            faults.append(fault)
    assert cases, "there is no case"
    if faults:
        raise ExceptionGroup(f"{len(faults)} of {len(cases)} cases fail", faults)


def _with_parameters(
    test: Callable[..., None], check: Callable[..., None], parameters: Sequence[Parameter]
) -> Callable[..., None]:
    """The test under the name of the function, as pytest reads it."""
    test.__name__, test.__doc__ = check.__name__, check.__doc__
    test.__dict__["__signature__"] = Signature(parameters)
    return test


def case_name(value: Any) -> str:
    """What a table calls the value, else the value."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        value = value.get("id") or value.get("name") or value
    return str(getattr(value, "id", None) or getattr(value, "name", None) or value)[:200]
