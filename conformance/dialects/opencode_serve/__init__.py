"""The event bus of `opencode serve`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.opencode_serve.reader import BusReader

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary"),
    reader=BusReader,
    is_application=True,
    carries_opaque=False,
    unit="turn",
)
