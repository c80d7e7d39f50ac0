"""Keys that an agent is started with: what our side gave it, it may say again.

A variable of the environment, or a word of the command, tells by its name that it holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from conformance.cassette.redaction.secret_names import (
    is_secret_name,
    is_secret_value,
    is_token,
)

_ASSIGNED: Final = re.compile(r"-*([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_OPTION: Final = re.compile(r"--?([A-Za-z][\w-]*)")
_ENDINGS: Final = ("token", "key")  # HF_TOKEN, AZURE_OPENAI_KEY
_SHORTEST: Final = 8


def passed_keys(environment: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """Values of variables, of words `NAME=VALUE` and behind options with such names."""
    named = [*environment.items(), *_named_words(words)]
    return [value for name, value in named if _is_key(name, value)]


def _named_words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in pairwise([*words, ""]):
        if (assigned := _ASSIGNED.fullmatch(word)) is not None:
            yield assigned[1], assigned[2]
        elif (option := _OPTION.fullmatch(word)) is not None:
            yield option[1], following


def _is_key(name: str, value: str) -> bool:
    if len(value) < _SHORTEST or _is_path(value):
        return False
    raw, data = name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape")
    if is_secret_name(raw):
        return is_secret_value(raw, data)
    return name.lower().endswith(_ENDINGS) and is_token(data)


def _is_path(value: str) -> bool:
    """A name may tell where a key is, and `PWD` tells where the user is."""
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False
