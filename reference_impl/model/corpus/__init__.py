"""What the model learns: examples of every task, drawn from a seeded generator."""

from __future__ import annotations

from reference_impl.model.corpus.example import Call, Example, Message, Thought, Tool
from reference_impl.model.corpus.mix import KINDS, draw

__all__ = ["KINDS", "Call", "Example", "Message", "Thought", "Tool", "draw"]
