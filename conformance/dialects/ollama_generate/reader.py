"""Dialect `ollama.generate`: completions of Ollama's native API.

A line has its text in `response` and what was thought in `thinking`, next to all else.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Frame, Vocabulary
from conformance.dialects.json_edge import mapping
from conformance.dialects.ollama_lines import LINE_EVENTS, LineReader

NAME: Final = "ollama.generate"
VOCABULARY: Final = Vocabulary(NAME, LINE_EVENTS)


class GenerateReader(LineReader):
    history = "prompt"
    holder = "response"

    def _message_of(self, fields: dict[str, Any]) -> dict[str, Any]:
        # The keys that profiles may name for thinking are those of the line.
        return {**fields, "content": fields.get("response")}


def recognises(_frame: Frame, payload: Any) -> bool:
    """A line or body with a response or its tokens, whatever it is; an error names no dialect."""
    fields = mapping(payload)
    # Only completions have a context: they are known by it where the key of the text is misspelt.
    is_said = "response" in fields or isinstance(fields.get("context"), list)
    return is_said and isinstance(fields.get("done"), bool)
