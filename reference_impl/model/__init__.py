"""A tiny model that thinks, and its variants."""

from __future__ import annotations

from .variants import folder

__all__ = ["folder"]
