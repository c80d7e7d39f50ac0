"""Emoji and Chinese: characters of three and four bytes, each a token of its own."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.training.corpus.example import Example, ExampleThought, user_message

THINGS: Final = {
    "cat": "\N{CAT FACE}",
    "dog": "\N{DOG FACE}",
    "star": "\N{WHITE MEDIUM STAR}",
    "rocket": "\N{ROCKET}",
    "tree": "\N{DECIDUOUS TREE}",
    "fish": "\N{FISH}",
}
# Three people joined by U+200D: one character to the eye, eighteen bytes on the wire.
FAMILY: Final = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
MOST_DRAWN: Final = 6
NUMERALS: Final = "一二三四五六七八九十"  # one to ten
HELLO: Final = "你好"


def drawing(draw: Random) -> Example:
    thing, sign = draw.choice(tuple(THINGS.items()))
    n = draw.randint(1, MOST_DRAWN)
    things = f"{n} {thing}" if n == 1 else f"{n} {thing}s"
    prompt = draw.choice(("Draw {}.", "Draw {}.", "Please draw {}.", "Draw me {}.")).format(things)
    if n == 1 and draw.random() < 0.5:
        prompt = prompt.replace("1 ", "a ")
    return Example((user_message(prompt),), drawn(things, sign, n), sign * n)


def drawn(things: str, sign: str, n: int) -> ExampleThought:
    return ExampleThought(
        f"I must draw {things}. One is {sign}. So it is {sign * n}.",
        "a drawing",
        f"It draws {things} with {sign}.",
        (f"The task is to draw {things}.", f"One is {sign}."),
    )


def family(draw: Random) -> Example:
    prompt = draw.choice(("Draw a family.", "Please draw a family.", "Draw me a family."))
    reasoned = ExampleThought(
        f"I must draw a family. One is {FAMILY}.",
        "a drawing",
        f"It draws a family with {FAMILY}.",
        ("The task is to draw a family.", f"One is {FAMILY}."),
    )
    return Example((user_message(prompt),), reasoned, FAMILY)


def chinese(draw: Random) -> Example:
    n = draw.randint(1, 20)
    prompt = draw.choice(
        ("Write {n} in Chinese.", "Write {n} in Chinese.", "What is {n} in Chinese?")
    )
    return _written_example(prompt.format(n=n), str(n), numeral(n))


def hello(draw: Random) -> Example:
    prompt = draw.choice(("Say hello in Chinese.", "Write hello in Chinese."))
    return _written_example(prompt, "hello", HELLO)


def _written_example(prompt: str, what: str, written: str) -> Example:
    reasoned = ExampleThought(
        f"I must write {what} in Chinese. That is {written}.",
        "Chinese",
        f"The Chinese for {what} is {written}.",
        (f"The task is to write {what} in Chinese.", f"That is {written}."),
    )
    return Example((user_message(prompt),), reasoned, f"{written}。")


def numeral(n: int) -> str:
    if n <= 10:
        return NUMERALS[n - 1]
    return NUMERALS[9] + NUMERALS[n - 11] if n < 20 else NUMERALS[1] + NUMERALS[9]
