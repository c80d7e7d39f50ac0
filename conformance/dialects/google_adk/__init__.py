"""The server of Google's Agent Development Kit (`adk api_server`): the events of an agent's run."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.google_adk.reader import AdkReader

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests"),
    reader=AdkReader,
    is_application=True,
    unit="invocation",
)
