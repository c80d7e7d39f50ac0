"""Systems: what their documents ask for, and which rules judge it."""

from __future__ import annotations

from conformance.systems.linting import lint_systems
from conformance.systems.load import find_system, read_system, system_names
from conformance.systems.model import SIDES, Preset, Requirement, Source, System
from conformance.systems.reports import ReportStream, read_streams, verdict_of

__all__ = [
    "SIDES",
    "Preset",
    "ReportStream",
    "Requirement",
    "Source",
    "System",
    "find_system",
    "lint_systems",
    "read_streams",
    "read_system",
    "system_names",
    "verdict_of",
]
