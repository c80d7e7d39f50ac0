"""Shows an answer in a terminal while it streams: thinking dimmed, then the answer.

Without colour a line in brackets says what begins. What a model writes cannot command the
terminal: control characters are shown as U+FFFD.
"""

from __future__ import annotations

import os
import re
from typing import Final, Literal, TextIO

from .event import Event

_DIM: Final = "\x1b[2m"
_PLAIN: Final = "\x1b[0m"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

Section = Literal["", "thinking", "answer", "call"]


class Screen:
    """Writes to one stream; colours only on a terminal, and not where NO_COLOR is set."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_coloured = stream.isatty() and not os.environ.get("NO_COLOR")
        self._section: Section = ""
        self._part: tuple[str, int | None] = ("", None)

    def show(self, event: Event) -> None:
        """Show an event, if it is for eyes. Opaque data never is."""
        if event.choice != 0:
            return
        if event.type == "thinking.delta":
            self._read_thinking(event)
        elif event.type in ("text.delta", "refusal.delta"):
            self._write("answer", event.data["text"])
        elif event.type == "tool.end":
            self._write("call", f"{event.data.get('name', '')}({event.data['arguments']})")

    def result(self, text: str) -> None:
        self._write("call", f" = {text}")

    def end(self) -> None:
        self._enter("")

    def _read_thinking(self, event: Event) -> None:
        """Parts of a summary, and a summary of what was shown raw, stand apart."""
        part = (event.data["channel"], event.data.get("part"))
        if self._section == "thinking" and part != self._part:
            self._write("thinking", "\n\n")
        self._part = part
        self._write("thinking", event.data["text"])

    def _write(self, section: Section, text: str) -> None:
        self._enter(section)
        self._stream.write(_CONTROL.sub("\ufffd", text))
        self._stream.flush()

    def _enter(self, section: Section) -> None:
        if section == self._section:
            return
        if self._section:
            self._stream.write((_PLAIN if self._is_coloured else "") + "\n")
        self._section = section
        if section and self._is_coloured:
            self._stream.write(_PLAIN if section == "answer" else _DIM)
        elif section:
            self._stream.write(f"[{section}]\n")
        self._stream.flush()
