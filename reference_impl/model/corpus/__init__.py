"""What the model learns: examples of every task, drawn from a seeded generator."""

from __future__ import annotations

from .example import Example, ExampleCall, ExampleThought, Message, Tool
from .mix import KINDS, draw

__all__ = ["KINDS", "Example", "ExampleCall", "ExampleThought", "Message", "Tool", "draw"]
