"""Named defects: each switches exactly one fault on, so that a checker is proved live."""

from __future__ import annotations

from .catalogue import DEFECTS
from .defect import Api, Scene, ServerDefect, hooked

__all__ = ["DEFECTS", "Api", "Scene", "ServerDefect", "hooked"]
