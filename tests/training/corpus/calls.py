"""Tool calls: of an adder from a fixed list of names, or of one that knows the weather.

The model copies numbers and cities, but it does not copy names: it knows the names of this list
and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from tests.training.corpus import sums
from tests.training.corpus.example import (
    WORDINGS,
    Example,
    ExampleCall,
    ExampleThought,
    Tool,
    worded,
)

# The calculator most often: it is the one that scenarios and documents name.
ADDERS: Final = ("calculator", "calculator", "calculator", "add", "sum", "math")
OPERANDS: Final = (("a", "b"), ("a", "b"), ("x", "y"), ("left", "right"), ("expression",))
WEATHER: Final = "get_weather"
PLACES: Final = ("city", "location")
CITIES: Final = ("Oslo", "Bergen", "Paris", "London", "Berlin", "Tokyo", "Rome", "Madrid")


@dataclass(frozen=True, slots=True)
class Adder:
    """A tool that adds two numbers, by its name and the names of its parameters."""

    name: str
    operands: tuple[str, ...]

    @property
    def tool(self) -> Tool:
        return tool(self.name, self.operands)

    @classmethod
    def of(cls, made: ExampleCall) -> Adder:
        return cls(made.name, tuple(made.arguments))

    def call(self, a: int, b: int) -> ExampleCall:
        if len(self.operands) == 1:
            return ExampleCall(self.name, {self.operands[0]: f"{a} + {b}"})
        return ExampleCall(self.name, dict(zip(self.operands, (a, b), strict=True)))


def tool(name: str, parameters: tuple[str, ...]) -> Tool:
    properties = {each: {"type": "string"} for each in parameters}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def adder(draw: Random) -> Adder:
    return Adder(draw.choice(ADDERS), draw.choice(OPERANDS))


def numbers(draw: Random) -> tuple[int, int]:
    most = draw.choice((10, 100, 100))
    return draw.randrange(most), draw.randrange(most)


def called(task: str, name: str, topic: str = sums.ADDING) -> ExampleThought:
    return ExampleThought(
        f"I must {task}. I call {name}.",
        topic,
        f"The tool {name} is called to {task}.",
        (f"The task is to {task}.", f"The tool {name} is called."),
    )


def offered(draw: Random, useful: Tool) -> tuple[Tool, ...]:
    """Give the tool, at times beside another that is of no use."""
    tools = [useful]
    if draw.random() < 0.2:
        is_adder = useful["function"]["name"] != WEATHER
        tools.append(tool(WEATHER, ("city",)) if is_adder else adder(draw).tool)
        draw.shuffle(tools)
    return tuple(tools)


def call(draw: Random) -> Example:
    return adding(draw, *numbers(draw))


def adding(draw: Random, a: int, b: int) -> Example:
    """Draw the call that a sum needs."""
    chosen = adder(draw)
    question = worded(draw, WORDINGS["sum"], a=a, b=b)
    thought = called(f"add {a} and {b}", chosen.name)
    tools = offered(draw, chosen.tool)
    return Example((question,), thought, "", (chosen.call(a, b),), tools)


def two(draw: Random) -> Example:
    return adding_twice(draw, *(draw.randrange(10) for _ in range(4)))


def adding_twice(draw: Random, a: int, b: int, c: int, d: int) -> Example:
    """Draw the two calls, in one turn, that two sums need."""
    chosen = adder(draw)
    question = worded(draw, WORDINGS["pair"], a=a, b=b, c=c, d=d)
    thought = called("add two times", chosen.name)
    calls = (chosen.call(a, b), chosen.call(c, d))
    return Example((question,), thought, "", calls, offered(draw, chosen.tool))


def three(draw: Random) -> Example:
    return adding_three(draw, *(draw.randrange(10) for _ in range(3)))


def adding_three(draw: Random, a: int, b: int, c: int) -> Example:
    """Draw the first of the two calls, one after the other, that a sum of three numbers needs."""
    chosen = adder(draw)
    question = worded(draw, WORDINGS["three"], a=a, b=b, c=c)
    thought = called(f"add {a}, {b} and {c}", chosen.name)
    tools = offered(draw, chosen.tool)
    return Example((question,), thought, "", (chosen.call(a, b),), tools)


def weather(draw: Random) -> Example:
    return looking(draw, draw.choice(CITIES))


def looking(draw: Random, city: str) -> Example:
    """Draw the call that a question about the weather needs."""
    place = draw.choice(PLACES)
    question = worded(draw, WORDINGS["weather"], city=city)
    thought = called(f"find the weather in {city}", WEATHER, "the weather")
    tools = offered(draw, tool(WEATHER, (place,)))
    return Example((question,), thought, "", (ExampleCall(WEATHER, {place: city}),), tools)
