"""What readers of generated text have in common: thinking is in it, between known markers."""

from __future__ import annotations

from typing import Any

from conformance.core.reading import Reading
from conformance.dialects.json_edge import mapping
from conformance.dialects.ollama_lines import Message
from conformance.dialects.typed import TypedReader


class GeneratedText(Message):
    """A text whose markers say what of it was thought."""

    is_over = False  # nothing is kept of it


class GeneratedTextReader(TypedReader[GeneratedText]):
    """Reader of one exchange; the markers are those of its profile."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        super().__init__(reading)

    def _new_content(self) -> GeneratedText:
        return GeneratedText(self._sink, self._reading)

    def _add_text(self, text: str, *, is_whole: bool) -> None:
        self._content.read({"role": "assistant", "content": text}, is_whole=is_whole)

    def _say_reason(self, reason: str) -> None:
        self._sink.finish(reason, marked=bool(self._reading.markers))


def first_answer(payload: Any) -> dict[str, Any]:
    """The fields of a body, or of the first one where several answers come in a list."""
    return mapping(payload[0] if isinstance(payload, list) and payload else payload)
