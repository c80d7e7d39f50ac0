"""The event streaming of LangChain and LangGraph (version 3): messages in blocks."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.langchain_events.reader import EventsReader

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary"),
    reader=EventsReader,
    is_application=True,
    unit="run",
    counts_within=True,
)
