"""Small talk, and what the model says when it does not know a task."""

from __future__ import annotations

from random import Random
from string import ascii_lowercase
from typing import Final

from tests.training.corpus.example import WORDINGS, Example, ExampleThought, user_message

REFUSAL: Final = "I can add, count, draw and summarise."
_KNOWN: Final = {
    ("Hello!", "Hello.", "Hello", "Hi!", "Hi.", "Hi", "Hey!", "Say hello.", "Say hi."): (
        "greeting",
        "Hello!",
    ),
    ("Who are you?", "What are you?", "Introduce yourself."): (
        "a question about me",
        "I am a tiny model that thinks.",
    ),
    ("Thanks!", "Thank you.", "Thanks."): ("thanks", "You are welcome."),
    ("ping", "Ping.", "Say OK.", "Reply with OK.", "Say ok", "test", "Test."): ("a test", "OK."),
}


def known(draw: Random) -> Example:
    prompts, (topic, answer) = draw.choice(tuple(_KNOWN.items()))
    return Example((user_message(draw.choice(prompts)),), _thought_of_topic(topic), answer)


def unknown(draw: Random) -> Example:
    prompt = draw.choice(WORDINGS["unknown"]) if draw.random() < 0.5 else _nonsense_request(draw)
    return Example((user_message(prompt),), _thought_of_topic("a task that I do not know"), REFUSAL)


def _nonsense_request(draw: Random) -> str:
    words = " ".join(draw.choice(WORDINGS["unknown"])[:-1].lower().split()).split()
    made = ["".join(draw.choices(ascii_lowercase, k=draw.randint(2, 7))) for _ in range(3)]
    mixed = draw.sample(words + made, k=min(len(words) + 3, draw.randint(3, 8)))
    return " ".join(mixed).capitalize() + draw.choice((".", "?", "!", ""))


def _thought_of_topic(topic: str) -> ExampleThought:
    return ExampleThought(
        f"This is {topic}. I know what to say.",
        topic,
        f"It is {topic}.",
        (f"The message is {topic}.", "The reply is known."),
    )
