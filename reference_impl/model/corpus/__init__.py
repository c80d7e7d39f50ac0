"""What the model learns: examples of every task, drawn from a seeded generator."""

from __future__ import annotations

from .example import Call, Example, Message, Thought, Tool
from .mix import KINDS, draw

__all__ = ["KINDS", "Call", "Example", "Message", "Thought", "Tool", "draw"]
