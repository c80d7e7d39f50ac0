"""Dialect `ollama.chat`: the chat of Ollama's native API; a line has its texts in `message`."""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Frame, Vocabulary
from conformance.dialects.history import OF_HISTORY
from conformance.dialects.history_calls import OF_OLLAMA
from conformance.dialects.json_edge import mapping
from conformance.dialects.ollama_lines import LINE_EVENTS, LineReader, lists_models

NAME: Final = "ollama.chat"
VOCABULARY: Final = Vocabulary(NAME, LINE_EVENTS | OF_HISTORY)


class OllamaReader(LineReader):
    history = "messages"
    holder = "message"
    call_pairing = OF_OLLAMA

    def _message_of(self, fields: dict[str, Any]) -> dict[str, Any]:
        return mapping(fields.get("message"))


def recognises(_frame: Frame, payload: Any) -> bool:
    """A line or body with a message, or a list of models; an error alone names no dialect."""
    fields = mapping(payload)
    speaks = isinstance(fields.get("message"), dict) and isinstance(fields.get("done"), bool)
    return speaks or lists_models(fields)
