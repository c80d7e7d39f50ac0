"""What a stream of Mistral's chat was seen to do, as values of the dialect's knobs."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.openai_chat.knob_signs import ChatKnobs

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
