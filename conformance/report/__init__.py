"""One result value, many renderers."""

from conformance.report.files import FORMATS, parse_output, render, write

__all__ = ["FORMATS", "parse_output", "render", "write"]
