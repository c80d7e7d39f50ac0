"""The server of Google's Agent Development Kit (`adk api_server`): the events of an agent's run."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.google_adk.reader import AdkReader, recognises
from conformance.dialects.google_adk.requests import REQUEST, TURNS
from conformance.dialects.google_adk.vocabulary import NAME, VOCABULARY, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=AdkReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    request=REQUEST,
    turns=TURNS,
    is_application=True,
    unit="invocation",
)
