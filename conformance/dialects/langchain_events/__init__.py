"""The event streaming of LangChain and LangGraph (version 3): messages in blocks."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.langchain_events.reader import EventsReader, recognises
from conformance.dialects.langchain_events.vocabulary import NAME, VOCABULARY, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=EventsReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    is_application=True,
    unit="run",
    counts_within=True,
)
