"""The lines of `gemini -p "..." --output-format stream-json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.gemini_cli.reader import LINES, RunReader
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    **facets(__name__),
    reader=RunReader,
    framing="lines",
    keys=WireKeys(
        texts=("content",),
        shown=("content",),
        words=("type", "role", "status", "severity"),
        free=("parameters", "output"),
    ),
    bounds=LINES.bounds(),
    is_application=True,
    carries_opaque=False,
    tells_parts=False,
    tells_reasons=False,
    unit="run",
)
