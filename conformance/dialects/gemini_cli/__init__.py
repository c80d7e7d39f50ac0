"""The lines of `gemini -p "..." --output-format stream-json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.gemini_cli.reader import (
    COLUMNS,
    LINES,
    NAME,
    VOCABULARY,
    RunReader,
    recognises,
)
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=RunReader,
    recognises=recognises,
    framing="lines",
    columns=COLUMNS,
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
