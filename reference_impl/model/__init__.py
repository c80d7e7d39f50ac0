"""A tiny model that thinks, and its variants.

It summarises reasoning after these instructions, as the reference server sends them: one user
message with the instruction, then the reasoning. It also knows other wordings of the same, and
those of OGX; see `tests/training/corpus`.
"""

from __future__ import annotations

from typing import Final

from .variants import folder

__all__ = ["CONCISE", "DETAILED", "folder"]

CONCISE: Final = "Summarise: {reasoning}"
DETAILED: Final = "Summarise in detail: {reasoning}"
