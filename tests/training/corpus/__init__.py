"""What the model learns: examples of every task, drawn from a seeded generator."""

from __future__ import annotations

from tests.training.corpus.example import Example, ExampleCall, ExampleThought, Message, Tool
from tests.training.corpus.mix import KINDS, draw

__all__ = ["KINDS", "Example", "ExampleCall", "ExampleThought", "Message", "Tool", "draw"]
