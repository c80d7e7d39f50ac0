"""The turns after a tool's result.

A result is at times wrong: it must be read, not known.
"""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Final

from tests.training.corpus import calls
from tests.training.corpus.example import WORDINGS, Example, ExampleThought, Message

_TOPIC: Final = "the result of a tool"
_KEYS: Final = ("result", "value", "answer")


def one(draw: Random) -> Example:
    a, b = calls.numbers(draw)
    asking = calls.adding(draw, a, b)
    if draw.random() < 0.1:
        return _turn_after(
            draw, asking, (draw.choice(WORDINGS["tool_failure"]),), failed(), "It failed."
        )
    number = _number_given(draw, a + b, 200)
    answer = f"{a} + {b} = {number}."
    return _turn_after(
        draw, asking, (_reply_with(draw, number),), thought_about(str(number)), answer
    )


def two(draw: Random) -> Example:
    a, b, c, d = (draw.randrange(10) for _ in range(4))
    first, second = _number_given(draw, a + b, 100), _number_given(draw, c + d, 100)
    replies = (_reply_with(draw, first), _reply_with(draw, second))
    answer = f"{a} + {b} = {first} and {c} + {d} = {second}."
    asking = calls.adding_twice(draw, a, b, c, d)
    return _turn_after(draw, asking, replies, thought_about(f"{first} and {second}"), answer)


def next_call(draw: Random) -> Example:
    """Draw the turn that goes on with a result: thinking, then the second call."""
    return _second_call(draw, *(draw.randrange(10) for _ in range(3)))


def _second_call(draw: Random, a: int, b: int, c: int) -> Example:
    asking = calls.adding_three(draw, a, b, c)
    so_far = _number_given(draw, a + b, 40)
    name = asking.calls[0].name
    thought = ExampleThought(
        f"The tool says {so_far}. I call {name}.",
        _TOPIC,
        f"The tool says {so_far} and is called again.",
        ("The tool was called.", f"It says {so_far}.", "It is called again."),
    )
    made = calls.Adder.of(asking.calls[0]).call(so_far, c)
    example = _turn_after(draw, asking, (_reply_with(draw, so_far),), thought, "")
    return replace(example, calls=(made,))


def three(draw: Random) -> Example:
    """Draw the turn after the second result."""
    a, b, c = (draw.randrange(10) for _ in range(3))
    total = _number_given(draw, a + b + c, 100)
    answer = f"{a} + {b} + {c} = {total}."
    asking = _second_call(draw, a, b, c)
    return _turn_after(draw, asking, (_reply_with(draw, total),), thought_about(str(total)), answer)


def weather(draw: Random) -> Example:
    city, degrees = draw.choice(calls.CITIES), draw.randrange(40)
    as_json = json.dumps({"temperature": degrees})
    content = draw.choice((f"{degrees}", as_json, f"{degrees} degrees"))
    answer = f"It is {degrees} degrees in {city}."
    return _turn_after(
        draw, calls.looking(draw, city), (content,), thought_about(str(degrees)), answer
    )


def thought_about(what: str) -> ExampleThought:
    text = f"The tool says {what}."
    return ExampleThought(text, _TOPIC, text, ("The tool was called.", f"It says {what}."))


def failed() -> ExampleThought:
    text = "The tool failed."
    return ExampleThought(text, _TOPIC, text, ("The tool was called.", "It failed."))


def _number_given(draw: Random, right: int, most: int) -> int:
    return right if draw.random() < 0.5 else draw.randrange(most)


def _reply_with(draw: Random, number: int) -> str:
    as_json = json.dumps({draw.choice(_KEYS): number})
    return draw.choice((str(number), str(number), as_json))


def _turn_after(
    draw: Random, asking: Example, replies: tuple[str, ...], thought: ExampleThought, answer: str
) -> Example:
    """Give the turn after `replies`; the turn of the calls may bring its reasoning back."""
    turn = asking.turn
    if draw.random() < 0.5:
        turn["reasoning_content"] = asking.thought.text
    if draw.random() < 0.2:
        for call in turn["tool_calls"]:  # as a client that wrote them anew
            call["function"]["arguments"] = _compact_arguments(call["function"]["arguments"])
    results: list[Message] = [{"role": "tool", "content": each} for each in replies]
    messages = (*asking.messages, turn, *results)
    return replace(asking, messages=messages, thought=thought, answer=answer, calls=())


def _compact_arguments(arguments: dict[str, int | str]) -> str:
    return json.dumps(arguments, separators=(",", ":"))
