"""Streams from payloads, as the signs of knobs see them."""

from __future__ import annotations

from tests.dialects.streams import seen

__all__ = ["seen"]
