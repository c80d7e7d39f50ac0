from __future__ import annotations

import asyncio
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from reference_impl.server.engine.events import Limits, Prompt, Reason
from reference_impl.server.engine.markers import Markers, Vocabulary
from reference_impl.server.engine.work import Outcome, Work, choose

pytestmark = pytest.mark.slow

OPEN, CLOSE, END = 10, 11, 12
VOCABULARY = Vocabulary(
    Markers("<think>", "</think>", OPEN, CLOSE), None, frozenset({END}), frozenset(), None
)


class Reader:
    def on_token(self, token: int | None, outcome: Outcome) -> None:
        """Hear nothing."""


READER = Reader()


def work(limits: Limits, *, opens: bool = False, room: int = 100) -> Work:
    async def made() -> Work:
        prompt = Prompt((1,), opens)
        return Work(prompt, limits, room=room, vocabulary=VOCABULARY, on_token=READER.on_token)

    return asyncio.run(made())


def accepted(limits: Limits, chosen: list[int], *, opens: bool = False) -> tuple[list[int], str]:
    """The tokens taken, and how it ended."""
    row, taken = work(limits, opens=opens), []
    for token in chosen:
        outcome = row.accept(token)
        taken.append(row.last)
        if outcome is not None:
            return taken, str(outcome)
    return taken, ""


SETTINGS = st.builds(
    Limits,
    temperature=st.sampled_from([0.0, 1e-6, 0.3, 1.0, 5.0, 1e9]),
    top_p=st.sampled_from([1e-9, 0.3, 0.9, 1.0]),
    seed=st.integers(0, 99),
)
ROWS = st.lists(st.tuples(SETTINGS, st.integers(0, 1000)), min_size=1, max_size=6)


def logits(seed: int) -> torch.Tensor:
    return 4 * torch.randn(50, generator=torch.Generator().manual_seed(seed))


@given(ROWS)
def test_choice_is_the_same_alone_and_next_to_others(rows: list[tuple[Limits, int]]) -> None:
    table = torch.stack([logits(seed) for _, seed in rows])
    together = choose(table, [work(limits) for limits, _ in rows])
    alone = [choose(table[n : n + 1], [work(limits)])[0] for n, (limits, _) in enumerate(rows)]
    assert together == alone


@given(st.integers(0, 1000), st.sampled_from([1.0, 0.6, 1e-9]), st.integers(0, 99))
def test_choice_lies_in_the_nucleus(table: int, top_p: float, seed: int) -> None:
    row = logits(table)
    shares = torch.softmax(row, -1)
    order = shares.argsort(descending=True).tolist()
    before = 0.0
    nucleus = []
    for token in order:
        if before < top_p + 1e-5:
            nucleus.append(token)
        before += shares[token].item()
    [chosen] = choose(row[None], [work(Limits(temperature=1.0, top_p=top_p, seed=seed))])
    assert chosen in nucleus


def test_cold_choice_is_the_greedy_one() -> None:
    table = torch.stack([logits(seed) for seed in range(20)])
    greedy = choose(table, [work(Limits())] * 20)
    cold = choose(table, [work(Limits(temperature=1e-6, seed=n)) for n in range(20)])
    assert cold == greedy == table.argmax(-1).tolist()


@pytest.mark.parametrize(
    ("top_p", "shares"),
    [(1.0, (1 / 8, 2 / 8, 5 / 8)), (0.999, (1 / 8, 2 / 8, 5 / 8)), (0.8, (0, 2 / 7, 5 / 7))],
)
def test_shares_are_kept(top_p: float, shares: tuple[float, ...]) -> None:
    row = work(Limits(temperature=1.0, top_p=top_p, seed=3))
    table = torch.tensor([[0.0, math.log(2), math.log(5), -math.inf]])
    count = Counter(choose(table, [row])[0] for _ in range(4000))
    for token, share in enumerate((*shares, 0)):
        assert abs(count[token] / 4000 - share) < (0.03 if share else 1e-9)


@pytest.mark.parametrize(
    ("limits", "opens", "chosen", "taken", "ended"),
    [
        (Limits(max_tokens=2), False, [1, 2, 3], [1, 2], "length"),
        (Limits(max_tokens=2), False, [1, END, 3], [1, END], "stop"),
        (Limits(max_tokens=1), True, [1], [1], "length"),
        (Limits(thinking_budget=2), True, [1, 2, 3, 4], [1, 2, CLOSE, 4], ""),
        (Limits(thinking_budget=2), False, [OPEN, 1, 2, 3], [OPEN, 1, 2, CLOSE], ""),
        (Limits(thinking_budget=0), True, [1, 2], [CLOSE, 2], ""),
        (Limits(thinking_budget=0), False, [OPEN, 1, 2], [OPEN, CLOSE, 2], ""),
        (Limits(thinking_budget=2), True, [1, CLOSE, 3, 4, 5], [1, CLOSE, 3, 4, 5], ""),
        # a second block has what the first left
        (Limits(thinking_budget=2), True, [1, CLOSE, OPEN, 2, 3], [1, CLOSE, OPEN, 2, CLOSE], ""),
        (Limits(thinking_budget=1), False, [1, 2, 3], [1, 2, 3], ""),
        (Limits(thinking_budget=2, max_tokens=2), True, [1, 2, 3], [1, 2], "length"),
    ],
)
def test_limits_decide_the_end(
    limits: Limits, opens: bool, chosen: list[int], taken: list[int], ended: Reason
) -> None:
    assert accepted(limits, chosen, opens=opens) == (taken, ended)


def test_context_bounds_what_has_no_other_bound() -> None:
    row = work(Limits(), room=3)
    assert [row.accept(1) for _ in range(3)] == [None, None, "length"]


@pytest.mark.parametrize(
    "values",
    [
        {"max_tokens": 0},
        {"thinking_budget": -1},
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"top_p": math.nan},
        {"stop": ("",)},
        {"stop": ("a",) * 17},
    ],
)
def test_limits_without_sense_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Limits(**values)  # type: ignore[arg-type]  # wrong on purpose
