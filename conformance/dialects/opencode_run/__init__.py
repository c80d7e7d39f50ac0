"""The lines of `opencode run --format json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.opencode_run.reader import RunReader
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    **facets(__name__, "agent"),
    reader=RunReader,
    framing="lines",
    keys=WireKeys(
        texts=("text",),
        shown=("text",),
        words=("type", "status", "reason"),
        free=("input", "output", "metadata"),
    ),
    is_application=True,
    carries_opaque=False,
    unit="run",
)
