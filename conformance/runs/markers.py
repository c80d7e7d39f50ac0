"""Words that tell one request of a soak from every other: whoever says another's word mixed up.

A target that answers alike needs none. One that chooses at random is asked to begin with a word of
the request's own; then text of another stream is known by its word, whatever else was said.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects import HISTORIES

_LENGTH: Final = 10


def marker_word(scenario: str, role: str) -> str:
    """The word of one request, by the names of its visit and its step."""
    digest = hashlib.sha256(f"{scenario}/{role}".encode()).digest()
    return f"K{base64.b32encode(digest).decode()[:_LENGTH]}"


def ask_for_marker(body: Any, word: str) -> Any:
    """The request body with the wish for the word; as it is where nobody asks in plain text."""
    if not isinstance(body, Mapping):
        return body
    for name in HISTORIES:
        history = body.get(name)
        if isinstance(history, str):
            return {**body, name: f"{history}{_marker_wish(word)}"}
        if isinstance(history, list) and history and _is_plain(history[-1]):
            last = history[-1]
            asked = {**last, "content": f"{last['content']}{_marker_wish(word)}"}
            return {**body, name: [*history[:-1], asked]}
    return body


def _is_plain(turn: Any) -> bool:
    is_user = isinstance(turn, Mapping) and turn.get("role") == "user"
    return is_user and isinstance(turn.get("content"), str)


def _marker_wish(word: str) -> str:
    return f"\nBegin your answer with the word {word}."
