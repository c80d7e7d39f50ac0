"""All kinds of examples in their shares, in the surroundings that requests have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from tests.training.corpus import calls, counting, results, summaries, sums, talk, writing
from tests.training.corpus.example import WORDINGS, Example, Message

Kind = Callable[[Random], Example]
# Shares out of the sum of all.
KINDS: Final[dict[str, tuple[Kind, int]]] = {
    "sum": (sums.digits, 12),
    "sum of two digits": (sums.columns, 10),
    "two sums": (sums.pair, 5),
    "three numbers": (sums.three, 4),
    "count": (counting.count, 12),
    "draw": (writing.drawing, 8),
    "draw a family": (writing.family, 1),
    "Chinese": (writing.chinese, 6),
    "hello in Chinese": (writing.hello, 1),
    "call": (calls.call, 12),
    "answer after a result": (results.one, 8),
    "two calls": (calls.two, 5),
    "answer after two results": (results.two, 5),
    "three numbers: first call": (calls.three, 4),
    "three numbers: next call": (results.next_call, 5),
    "three numbers: answer": (results.three, 4),
    "weather": (calls.weather, 3),
    "answer after the weather": (results.weather, 3),
    "summary": (summaries.concise, 12),
    "detailed summary": (summaries.detailed, 12),
    "talk": (talk.known, 2),
    "unknown": (talk.unknown, 4),
}
# A model of this size cannot do two steps at once: it must write the first one down.
NEED_THINKING: Final = frozenset({"sum of two digits", "three numbers"})
OWN_TOOLS: Final = frozenset({"sum", "sum of two digits", "two sums", "three numbers"})
_EARLIER: Final = (
    sums.digits,
    writing.drawing,
    writing.chinese,
    talk.known,
    counting.count,
    results.one,
)


def draw(random: Random) -> tuple[str, Example]:
    """Draw an example with the name of its kind."""
    names = tuple(KINDS)
    name = random.choices(names, [share for _, share in KINDS.values()])[0]
    kind, _ = KINDS[name]
    return name, surrounded(random, name, kind(random))


def surrounded(random: Random, name: str, example: Example) -> Example:
    """Put the example where requests put it: after a system message, history, beside tools."""
    example = _with_thinking_switched(random, name, example)
    messages = _with_a_word(random, name, example.messages)
    if not example.tools and random.random() < 0.2:
        useless = calls.tool(calls.WEATHER, ("city",)) if name in OWN_TOOLS else None
        tools = (useless,) if useless else calls.offered(random, calls.adder(random).tool)
        example = replace(example, tools=tools)
    messages = _with_history(random, messages)
    if messages[0]["role"] != "system" and random.random() < 0.3:
        role = random.choice(("system", "developer"))
        messages = ({"role": role, "content": random.choice(WORDINGS["system"])}, *messages)
    return replace(example, messages=messages)


def _with_thinking_switched(random: Random, name: str, example: Example) -> Example:
    if name in NEED_THINKING:
        return example
    if random.random() < 0.12:
        return replace(example, kept=random.random())
    often = 0.7 if "summary" in name else 0.25
    return replace(example, thinks=random.random() >= often)


def _with_a_word(random: Random, name: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    if "summary" in name or random.random() > 0.08:
        return messages
    first = {**messages[0], "content": messages[0]["content"] + random.choice(WORDINGS["behind"])}
    return (first, *messages[1:])


def _with_history(random: Random, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Put turns of other tasks in front, with or without their reasoning."""
    if messages[0]["role"] == "system" or random.random() > 0.25:
        return messages
    before: list[Message] = []
    for _ in range(random.randint(1, 2)):
        past = random.choice(_EARLIER)(random)
        turn = past.turn
        if random.random() < 0.5:
            turn["reasoning_content"] = past.thought.text
        before += [*past.messages, turn]
    return (*before, *messages)
