"""Small sums: thought about in columns, then answered."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.training.corpus.example import WORDINGS, Example, ExampleThought, worded

# Cut early, one of these thoughts cannot be distinguished from another.
ADDING: Final = "adding"


def reasoned(a: int, b: int) -> str:
    return f"I must add {a} and {b}. {_added_by_columns(a, b)}"


def _added_by_columns(a: int, b: int) -> str:
    if a < 10 and b < 10:
        return f"{a} plus {b} is {a + b}."
    ones = a % 10 + b % 10
    carried = f" Carry {ones // 10}." if ones > 9 else ""
    tens = [str(part) for part in (a // 10, b // 10, ones // 10) if part]
    first = f"{a % 10} plus {b % 10} is {ones}.{carried}"
    return f"{first} {' plus '.join(tens)} is {(a + b) // 10}. So it is {a + b}."


def thought(a: int, b: int) -> ExampleThought:
    return ExampleThought(
        reasoned(a, b),
        ADDING,
        f"The sum of {a} and {b} is {a + b}.",
        (f"The task is to add {a} and {b}.", "Both numbers were added.", f"The sum is {a + b}."),
    )


def digits(draw: Random) -> Example:
    """Draw two numbers below ten: all hundred pairs are learnt, also without thinking."""
    return _sum_example(draw, draw.randrange(10), draw.randrange(10))


def columns(draw: Random) -> Example:
    """Draw two numbers below a hundred: these need the thinking."""
    return _sum_example(draw, draw.randrange(10, 90), draw.randrange(draw.choice((10, 90))))


def _sum_example(draw: Random, a: int, b: int) -> Example:
    return Example(
        (worded(draw, WORDINGS["sum"], a=a, b=b),), thought(a, b), f"{a} + {b} = {a + b}."
    )


def pair(draw: Random) -> Example:
    a, b, c, d = (draw.randrange(10) for _ in range(4))
    answer = f"{a} + {b} = {a + b} and {c} + {d} = {c + d}."
    return Example(
        (worded(draw, WORDINGS["pair"], a=a, b=b, c=c, d=d),), pair_thought(a, b, c, d), answer
    )


def pair_thought(a: int, b: int, c: int, d: int) -> ExampleThought:
    return ExampleThought(
        f"{reasoned(a, b)} {reasoned(c, d)}",
        ADDING,
        f"The sums are {a + b} and {c + d}.",
        ("The task is to add two times.", f"The first sum is {a + b}.", f"The next is {c + d}."),
    )


def three(draw: Random) -> Example:
    a, b, c = (draw.randrange(10) for _ in range(3))
    answer = f"{a} + {b} + {c} = {a + b + c}."
    return Example(
        (worded(draw, WORDINGS["three"], a=a, b=b, c=c),), three_thought(a, b, c), answer
    )


def three_thought(a: int, b: int, c: int) -> ExampleThought:
    task = f"add {a}, {b} and {c}"
    return ExampleThought(
        f"I must {task}. {a} plus {b} is {a + b}. {a + b} plus {c} is {a + b + c}.",
        ADDING,
        f"The sum of {a}, {b} and {c} is {a + b + c}.",
        (f"The task is to {task}.", f"First comes {a + b}.", f"The sum is {a + b + c}."),
    )
