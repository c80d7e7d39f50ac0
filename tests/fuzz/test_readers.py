"""A short sample of what `make fuzz` does with every kind of file, and what it has found."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.fuzz.readers import TARGETS, edited, flaw_of

SAMPLE: Final = range(12)
FOUND: Final = {"http": (77,), "rows": (7001888,), "parquet": (7002923, 7110826)}


@pytest.mark.parametrize("kind", TARGETS)
def test_a_reader_raises_nothing_but_what_it_documents(kind: str, tmp_path: Path) -> None:
    target = TARGETS[kind]
    sources, tokens = target.sources(), target.tokens.split(b"|")
    for seed in (*FOUND.get(kind, ()), *SAMPLE):
        source = Random(seed)
        name, data = source.choice(sources)
        data = edited(data, tokens, source.choice(sources)[1], source)
        assert flaw_of(target, name, data, source, tmp_path) in ("", "refused"), seed
