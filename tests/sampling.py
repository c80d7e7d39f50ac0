"""A part of many like cases in every run, all of them where long tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import pytest


def one_in(number: int, cases: Iterable[Any], *, called: Callable[[Any], str] = str) -> list[Any]:
    """The cases as parameters: one in `number` by its name, wherever it stands, the rest `long`."""
    return [
        pytest.param(
            case,
            id=called(case),
            marks=() if crc32(called(case).encode()) % number == 0 else pytest.mark.long,
        )
        for case in cases
    ]
