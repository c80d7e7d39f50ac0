"""Which values look drawn at random, and which are made of words."""

from __future__ import annotations

import random
import string

import pytest

from conformance.cassette.redaction.key_likeness import is_key_like, is_unmistakable

WORDS = (
    *("openai", "conversation", "streaming-with-thinking", "production", "internationalisation"),
    *("claude-sonnet-4-20250514", "meta-llama/Llama-3.3-70B-Instruct", "gpt-4o-2024-08-06"),
    *("mixtral-8x7b-instruct-v0.1", "Qwen2.5-VL-72B-Instruct-AWQ", "kimi-k2-0905-preview"),
    *("us-east-1", "eu-central-1a", "application/vnd.api+json", "2024-05-01T12:00:00Z"),
    *("https://example.com/chat", "jane.doe@example.com", "1732698000123", "maxTokensPerTurn"),
)
KEYS = (
    *("n0-Sha/pe+at_all=77xY", "my-own-k3y-77", "Zk9Qm3vX7Lr5tYpW8sBn/Hd2kLm+N4pQ"),
    *("550e8400-e29b-41d4-a716-446655440000", "deadbeefcafe1234", "</think>-9x", "pässwört-lang"),
)
ALPHABETS = {
    "letters and digits": (string.ascii_letters + string.digits, 32),
    "hexadecimal": ("0123456789abcdef", 16),
    "small letters": (string.ascii_lowercase, 32),
    "capitals and digits": (string.ascii_uppercase + string.digits, 20),
}


@pytest.mark.parametrize("text", WORDS)
def test_words_are_no_key(text: str) -> None:
    assert not is_key_like(text)


@pytest.mark.parametrize("text", KEYS)
def test_what_no_words_make_is_one(text: str) -> None:
    assert is_key_like(text)
    assert is_unmistakable(text)


@pytest.mark.parametrize("name", ALPHABETS)
def test_what_is_drawn_is_one(name: str) -> None:
    alphabet, size = ALPHABETS[name]
    rng = random.Random(name)
    drawn = ("".join(rng.choices(alphabet, k=size)) for _ in range(500))
    assert sum(not is_key_like(each) for each in drawn) <= 2


def test_many_words_in_a_row_stand_nowhere_else() -> None:
    assert is_unmistakable("my-own-kind-of-key")
    assert not is_unmistakable("lm-studio")
    assert not is_key_like("my-own-kind-of-key")
