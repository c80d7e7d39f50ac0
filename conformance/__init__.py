"""Record/replay conformance toolkit for LLM reasoning streams."""

from __future__ import annotations

__version__ = "0.1.0"
