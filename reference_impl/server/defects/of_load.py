"""Defects that show only where several requests are answered at a time, whatever the API."""

from __future__ import annotations

from typing import Final

from . import crossed
from .defect import Defect

_LIVE: Final = ("scenario/cross-talk",)

OF_LOAD: Final = (
    Defect(
        "crossed-texts",
        "under load, visible text goes to another answer",
        {},
        events=crossed.texts,
        live=_LIVE,
    ),
    Defect(
        "crossed-chunks",
        "under load, whole chunks go to another answer",
        {},
        frames=crossed.chunks,
        live=_LIVE,
    ),
)
