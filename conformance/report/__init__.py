"""One result value, many renderers."""

from __future__ import annotations

from conformance.report.files import FORMATS, parse_output, render, write

__all__ = ["FORMATS", "parse_output", "render", "write"]
