"""Summaries of reasoning: one sentence, or paragraphs with an empty line between them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from reference_impl.model import CONCISE, DETAILED
from tests.training.corpus import calls, counting, results, sums, talk, writing
from tests.training.corpus.example import WORDINGS, Example, ExampleThought, Message, user_message

# What OGX 1.5.0 sends upstream for a summary (its provider inline::builtin, MIT licence).
OGX_SYSTEM: Final = "You are a helpful assistant that summarizes reasoning traces."
OGX_CONCISE: Final = (
    "Summarize the following chain-of-thought reasoning in one or two sentences. Focus only on the"
    " final conclusion and the most important reasoning step.\n\nReasoning:\n{reasoning}"
)
OGX_DETAILED: Final = (
    "Summarize the following chain-of-thought reasoning. Preserve the key logical steps, decisions,"
    " and conclusions. Be thorough but remove redundancy.\n\nReasoning:\n{reasoning}"
)
_SOURCES: Final[tuple[Callable[[Random], Example], ...]] = (
    sums.digits,
    sums.digits,
    sums.columns,
    sums.pair,
    sums.three,
    counting.count,
    writing.drawing,
    writing.family,
    writing.chinese,
    calls.call,
    results.one,
    calls.two,
    results.two,
    calls.three,
    results.next_call,
    calls.weather,
    results.weather,
    talk.known,
    talk.unknown,
)


def concise(draw: Random) -> Example:
    messages, thought = _request_and_thought(draw, CONCISE, OGX_CONCISE, WORDINGS["shortly"])
    return Example(messages, _own_thought(), thought.gist)


def detailed(draw: Random) -> Example:
    messages, thought = _request_and_thought(draw, DETAILED, OGX_DETAILED, WORDINGS["at_length"])
    return Example(messages, _own_thought(), "\n\n".join(thought.steps))


def _request_and_thought(
    draw: Random, ours: str, ogx: str, wordings: tuple[str, ...]
) -> tuple[tuple[Message, ...], ExampleThought]:
    thought = _own_thought() if draw.random() < 0.03 else draw.choice(_SOURCES)(draw).thought
    if draw.random() < 0.15:
        thought = _cut_thought(draw, thought)
    form = draw.random()
    if form < 0.4:
        return (user_message(ours.format(reasoning=thought.text)),), thought
    if form < 0.7:
        system: Message = {"role": "system", "content": OGX_SYSTEM}
        return (system, user_message(ogx.format(reasoning=thought.text))), thought
    worded = _worded_request(draw, draw.choice(wordings))
    return (user_message(worded.format(reasoning=thought.text)),), thought


def _worded_request(draw: Random, wording: str) -> str:
    verb = draw.choice(("Summarise", "Summarize"))
    end = draw.choice((".\n\nReasoning:\n", ":\n\n", ":\n", ".\n\n", ": "))
    return f"{verb} {draw.choice(WORDINGS['reasoning'])} {wording}{end}{{reasoning}}"


def _cut_thought(draw: Random, thought: ExampleThought) -> ExampleThought:
    """Keep a part of the reasoning; the topic shows in its first words."""
    words = thought.text.split(" ")
    kept = " ".join(words[: draw.randint(min(5, len(words) - 1), len(words) - 1)])
    kept = kept.removesuffix(".")
    topic = thought.topic
    steps = (f"The reasoning was about {topic}.", "It was cut short.")
    return ExampleThought(kept, topic, f"It was about {topic} and was cut short.", steps)


def _own_thought() -> ExampleThought:
    text = "I must summarise this."
    paragraphs = ("The task is to summarise.", "It is.")
    return ExampleThought(text, "a summary", "It is a summary.", paragraphs)
