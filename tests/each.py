"""One test over many cases alike, where a test item for each would cost more than the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Signature, signature
from itertools import product
from typing import Any

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
            faults: list[Exception] = []
            for case in cases:
                try:
                    check(*case, **fixtures)
                except FAULTS as fault:
                    fault.add_note(f"in case {' '.join(map(case_name, case))}")
                    faults.append(fault)
            assert cases, "there is no case"
            if faults:
                raise ExceptionGroup(f"{len(faults)} of {len(cases)} cases fail", faults)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        fixtures = list(signature(check).parameters.values())[len(cases[0]) if cases else 0 :]
        test.__dict__["__signature__"] = Signature(fixtures)
        return test

    return decorate


def case_name(value: Any) -> str:
    """What a table calls the value, else the value."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("name") or value
    return str(getattr(value, "id", None) or getattr(value, "name", None) or value)[:200]
