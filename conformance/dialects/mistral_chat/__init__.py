"""The chat of Mistral's API: Chat Completions whose content may be parts, thinking among them.

What makes it a separate dialect is the API that publishes it: its schema knows parts where others
have fields, its switches and its refusals are its own. A stream that shows no such part cannot be
distinguished from Chat Completions, and is read as these where no option says more.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import Dialect, Refinement, facets
from conformance.dialects.client_cases import ClientCases
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.mistral_chat.reader import MistralReader
from conformance.dialects.openai_chat.client_cases import whole_message
from conformance.dialects.openai_chat.knob_signs import ChatKnobs
from conformance.dialects.openai_chat.reader import NAME as CHAT
from conformance.dialects.openai_chat.wire_keys import BOUNDS, ENVELOPE, WIRE_KEYS
from conformance.dialects.turns import MESSAGES

_SHARED: Final = frozenset(
    {
        *("combined_chunk", "created", "done", "empty_choices_first", "finish_count"),
        *("finish_key", "id_stability", "interleaved", "object_field", "reasoning_tokens", "role"),
        "usage_placement",
    }
)


class MistralKnobs(ChatKnobs):
    """The knobs that the dialect has of Chat Completions."""

    def values(self, *, framed: bool) -> dict[str, Any]:
        """Observed values; what the stream did not show is left out."""
        return {k: v for k, v in super().values(framed=framed).items() if k in _SHARED}


DIALECT: Final = Dialect(
    **facets(__name__, "columns", "requests", "script"),
    reader=MistralReader,
    refines=Refinement(CHAT, '"thinking"'),
    keys=WIRE_KEYS,
    envelope=ENVELOPE,
    bounds=BOUNDS,
    knobs=MistralKnobs,
    endpoint=Endpoint("mistral", "/chat/completions"),
    models=ModelListing("/models"),
    turns=MESSAGES,
    client=ClientCases(whole_message, ends_calls=False),
)
