"""Thinking that is in the visible text between the markers of a known model family.

Bounded: only the beginning of a choice's text is kept, and as much of its end as a marker is long.
"""

from __future__ import annotations

from typing import Any, Final

PAIRS: Final = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
)
MOST_CHOICES: Final = 64
_LONGEST: Final = max(len(marker) for pair in PAIRS for marker in pair)


class Marked:
    """The texts of an exchange, read without markers."""

    def __init__(self) -> None:
        self._heads: dict[int, str] = {}
        self._tails: dict[int, str] = {}
        self._closed: set[tuple[str, str]] = set()

    def add(self, choice: int, text: str) -> None:
        if choice not in self._heads and len(self._heads) >= MOST_CHOICES:
            return
        head = self._heads.get(choice, "")
        if len(head) < _LONGEST:
            self._heads[choice] = (head + text[: 2 * _LONGEST]).lstrip()
        tail = self._tails.get(choice, "") + text
        self._closed.update(pair for pair in PAIRS if pair[1] in tail)
        self._tails[choice] = tail[-_LONGEST:]

    def knobs(self) -> dict[str, Any]:
        """`markers`, and `think_opened_by` where the text begins inside the first block."""
        heads = self._heads.values()
        opened = [pair for pair in PAIRS if any(head.startswith(pair[0]) for head in heads)]
        if opened:
            return {"markers": [list(pair) for pair in opened]}
        closed = [list(pair) for pair in PAIRS if pair in self._closed]
        return {"markers": closed, "think_opened_by": "prompt"} if closed else {}
