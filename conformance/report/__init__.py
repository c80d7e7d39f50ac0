"""One result value, many renderers."""

from __future__ import annotations

from conformance.report.files import output, write
from conformance.report.formats import FORMATS, render

__all__ = ["FORMATS", "output", "render", "write"]
