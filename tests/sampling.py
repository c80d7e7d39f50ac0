"""A part of many like cases in every run, all of them where long tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import pytest


def one_in(number: int, cases: Iterable[Any], *, called: Callable[[Any], str] = str) -> list[Any]:
    """The cases as parameters: one in `number`, and the rest `long`.

    Numbers are chosen by themselves, all else by its name, wherever it stands.
    """
    return [
        pytest.param(
            case,
            id=called(case),
            marks=() if _mark(case, called) % number == 0 else pytest.mark.long,
        )
        for case in cases
    ]


def _mark(case: Any, called: Callable[[Any], str]) -> int:
    return case if isinstance(case, int) else crc32(called(case).encode())
