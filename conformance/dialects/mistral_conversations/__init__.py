"""The conversations of Mistral's API, which the server remembers, with agents and their tools."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.mistral_conversations.reader import ConversationReader, recognises
from conformance.dialects.mistral_conversations.requests import REQUEST, TURNS
from conformance.dialects.mistral_conversations.vocabulary import (
    COLUMNS,
    ENVELOPE,
    EVENTS,
    NAME,
    VOCABULARY,
    WIRE_KEYS,
)

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ConversationReader,
    recognises=recognises,
    columns=COLUMNS,
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=EVENTS.bounds(),
    request=REQUEST,
    turns=TURNS,
    tells_reasons=False,
)
