"""What the engine's thread asks of a model: rows that advance together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor


class Batch(Protocol):
    """Rows in a fixed order, each with its own length; logits come as [rows, vocabulary]."""

    def admit(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """Append a row for each prompt; the logits behind the new ones."""

    def step(self, tokens: Sequence[int]) -> Tensor:
        """Append one token to each row; the logits behind them."""

    def leave(self, row: int) -> None:
        """Drop a row; the last row takes its place."""

    def keep(self, rows: int) -> None:
        """Drop all rows but the first, whatever state a failure left the others in."""
