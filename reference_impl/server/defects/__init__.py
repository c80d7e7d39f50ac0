"""Named defects: each switches exactly one fault on, so that a checker is proved live."""

from __future__ import annotations

from .catalogue import DEFECTS
from .defect import Api, Defect, Scene, hooked

__all__ = ["DEFECTS", "Api", "Defect", "Scene", "hooked"]
