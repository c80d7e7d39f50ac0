"""Systems: what their documents ask for, and which rules judge it."""

from conformance.systems.linting import lint_systems
from conformance.systems.reports import ReportStream, read_streams, verdict_of
from conformance.systems.tables import (
    Preset,
    Requirement,
    System,
    find_system,
    read_system,
    system_names,
)

__all__ = [
    "Preset",
    "ReportStream",
    "Requirement",
    "System",
    "find_system",
    "lint_systems",
    "read_streams",
    "read_system",
    "system_names",
    "verdict_of",
]
