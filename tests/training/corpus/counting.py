"""Counting: as much thinking as a length cut or a budget needs."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.training.corpus.example import WORDINGS, Example, ExampleThought, user_message

LOW: Final = 2
HIGH: Final = 20


def count(draw: Random) -> Example:
    n = draw.randint(LOW, HIGH)
    numbers = ", ".join(str(each) for each in range(1, n + 1))
    return Example(
        (user_message(draw.choice(WORDINGS["count"]).format(n=n)),), thought(n), f"{numbers}."
    )


def thought(n: int) -> ExampleThought:
    text = "".join(f" Then {each}." for each in range(2, n + 1))
    return ExampleThought(
        f"I must count to {n}. First 1.{text} That is all.",
        "counting",
        f"It counts from 1 to {n}.",
        (f"The task is to count to {n}.", "Each number is said once.", f"The last one is {n}."),
    )
