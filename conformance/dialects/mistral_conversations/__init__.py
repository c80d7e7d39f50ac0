"""The conversations of Mistral's API, which the server remembers, with agents and their tools."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.mistral_conversations.reader import ConversationReader
from conformance.dialects.mistral_conversations.vocabulary import EVENTS

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests"),
    reader=ConversationReader,
    bounds=EVENTS.bounds(),
    tells_reasons=False,
)
