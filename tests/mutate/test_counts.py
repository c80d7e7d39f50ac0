"""A count of tokens below zero breaks a rule, in every dialect and wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.core.json_values import Path
from conformance.core.shipped import cassettes
from conformance.dialects import SUPPORTED
from conformance.judging.rulebook import Rulebook
from conformance.mutate.base_recordings import SUFFIX, BaseRecording, open_base

COUNT = re.compile("tokens?(_?count)?$|^(prompt_)?eval_count$", re.IGNORECASE)
HOLDER = re.compile("usage|tokens$|details$|stats|meta_info|^metrics$", re.IGNORECASE)
# What no client and no document reads as a count of the answer; a request asks for a maximum.
FREE = {
    "amazon-bedrock-invocationMetrics",  # Bedrock's own, of what it bills
    "messages",  # of a state, which is the application's
    "models",  # by names that a program chooses
    "input_tokens_by_modality",
    "ephemeral_1h_input_tokens",
    "ephemeral_5m_input_tokens",
}


def counts(value: Any, path: Path = (), within: bool = False) -> Iterator[Path]:
    """The paths of numbers that count tokens."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, held in entries:
        is_holder = within or (isinstance(key, str) and bool(HOLDER.search(key)))
        if key in FREE or str(key).startswith("max_"):
            continue
        if isinstance(held, dict | list):
            yield from counts(held, (*path, key), is_holder)
        elif type(held) is int and (COUNT.search(str(key)) or (is_holder and "tokens" in path)):
            yield (*path, key)


def recordings(dialect: str) -> Iterator[BaseRecording]:
    for path in sorted((cassettes() / dialect).rglob(f"*{SUFFIX}")):
        base = open_base(path, cassettes())
        if not (base.has_client or base.is_of_run):
            yield base


@pytest.mark.parametrize("dialect", sorted(SUPPORTED))
def test_a_count_below_zero_breaks_a_rule(dialect: str) -> None:
    rulebook = Rulebook.load()
    known: set[tuple[str, ...]] = set()
    silent: list[str] = []
    for base in recordings(dialect):
        for stream in base.streams():
            for place, piece in stream.events():
                if stream.dialect != dialect or not isinstance(piece.payload, dict):
                    continue
                for path in counts(piece.payload):
                    shape = (piece.type, *("*" if isinstance(k, int) else k for k in path))
                    if shape in known:
                        continue
                    known.add(shape)
                    edited = stream.with_value(place, path, -1).result()
                    if not base.judge(rulebook, edited).failing:
                        silent.append(f"{base.name}: {'.'.join(shape)}")
    assert silent == []
