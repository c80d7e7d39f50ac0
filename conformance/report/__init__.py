"""One result value, many renderers."""

from __future__ import annotations

from conformance.report.files import parse_output, write
from conformance.report.formats import FORMATS, render

__all__ = ["FORMATS", "parse_output", "render", "write"]
