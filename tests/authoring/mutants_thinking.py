"""Mutants of `thinking`: what a correct client would see, and what a faulty one reports."""

from __future__ import annotations

from typing import Final

from tests.authoring.mutant import Mutant, Reported

CHAT_CLIENT: Final = "openai.chat/client/thinking-then-text"


def _first(events: Reported, kind: str) -> int:
    return next(n for n, event in enumerate(events) if event["type"] == kind)


def _block_per_delta(events: Reported) -> Reported:
    """The first delta of the block gets a block of its own."""
    start, spot = _first(events, "thinking.start"), _first(events, "thinking.delta")
    end = {"type": "thinking.end", "choice": 0, "block": 0, "explicit": False}
    rest = [{**e, "block": e["block"] + 1} if "block" in e else e for e in events[spot + 1 :]]
    return [*events[: spot + 1], end, {**events[start], "block": 1}, *rest]


MUTANTS: Final = (Mutant("thinking/start/one-per-run", CHAT_CLIENT, retold=_block_per_delta),)
