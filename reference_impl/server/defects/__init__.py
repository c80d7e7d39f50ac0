"""Named defects: each switches exactly one fault on, so that a checker is proved live."""

from __future__ import annotations

from reference_impl.server.defects.catalogue import DEFECTS
from reference_impl.server.defects.defect import Api, Defect, Scene, hooked

__all__ = ["DEFECTS", "Api", "Defect", "Scene", "hooked"]
