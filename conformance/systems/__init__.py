"""Systems: what their documents ask for, and which rules judge it."""

from __future__ import annotations

from conformance.systems.catalogue import find_system, names
from conformance.systems.contradictions import Axis, Cell, Contradictions, load_contradictions
from conformance.systems.linting import lint_systems
from conformance.systems.load import load_system, read_system
from conformance.systems.model import SIDES, Preset, Requirement, Source, System
from conformance.systems.reports import Stream, read_streams, verdict_of

__all__ = [
    "SIDES",
    "Axis",
    "Cell",
    "Contradictions",
    "Preset",
    "Requirement",
    "Source",
    "Stream",
    "System",
    "find_system",
    "lint_systems",
    "load_contradictions",
    "load_system",
    "names",
    "read_streams",
    "read_system",
    "verdict_of",
]
