"""The training script gives a model that thinks, and gives the same one every time.

Fewer steps than for the shipped weights: enough to think between the markers and to be right about
small sums, not enough for all that the shipped weights can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.training import measure, train

pytestmark = pytest.mark.slow

STEPS = 800
LEARNT = ("sum", "draw", "Chinese", "call", "unknown")


def exact_share(folder: Path, kinds: Sequence[str], each: int) -> float:
    """The share of exact answers, with thinking, over these kinds."""
    model, tokenizer = measure.load(folder)
    trials = measure.trials(tokenizer, each, kinds)
    given = [trial for trial in trials if trial.manner == "thinking"]
    answers = measure.answers(model, tokenizer, [trial.given for trial in given])
    right = [trial.expected == ids for trial, ids in zip(given, answers, strict=True)]
    return sum(right) / len(right)


@pytest.mark.long
def test_trained_again_it_behaves(tmp_path: Path) -> None:
    train.train(tmp_path, STEPS)
    assert exact_share(tmp_path, LEARNT, 30) > 0.75  # 0.85 was measured; untrained it is 0


@pytest.mark.long
def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        train.train(tmp_path / name, 10)
    first, second = (tmp_path / name for name in ("first", "second"))
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def test_untrained_it_knows_nothing(tmp_path: Path) -> None:
    """So that the measure of the tests above is seen to fail."""
    train.train(tmp_path, 1)
    assert exact_share(tmp_path, ("sum",), 4) == 0
