"""A tiny model that thinks, and its variants."""

from __future__ import annotations

from reference_impl.model.variants import folder

__all__ = ["folder"]
