"""One content block of an Anthropic message.

A delta says by its own type what it is, whatever its block was announced as. A text that stands
in the start already is told once, also where the first delta repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .call import Call
from .event import Report
from .payload import compact, text_of
from .speech import Speech

HOSTED: Final = frozenset({"server_tool_use", "mcp_tool_use"})
CALLS: Final = HOSTED | {"tool_use"}


class ContentBlock:
    """Tells thinking, text or a call, until the block stops."""

    def __init__(self, report: Report, speech: Speech, number: Callable[[], int]) -> None:
        self._report = report
        self._speech = speech
        self._number = number
        self._thinking: int | None = None
        self._is_thinking = False
        self._text: int | None = None
        self._is_speaking = False
        self._call: Call | None = None
        self._input: Any = None
        self._repeated = ""  # what the start said, until the first delta has come

    def start(self, given: Mapping[str, Any]) -> None:
        """Begin what the start announces, with what it holds already."""
        kind = text_of(given.get("type"))
        if kind == "thinking":
            self._open(explicit=True)
            self._think(text_of(given.get("thinking")))
            self._speech.seal("signature", text_of(given.get("signature")), self._thinking)
            self._repeated = text_of(given.get("thinking"))
        elif kind == "redacted_thinking":
            self._speech.seal("redacted", text_of(given.get("data")), None)
        elif kind == "text":
            self._say(text_of(given.get("text")))
            self._repeated = text_of(given.get("text"))
        elif kind in CALLS:
            self._call = Call(self._report, self._number(), hosted=kind in HOSTED)
            self._call.start(text_of(given.get("id")), text_of(given.get("name")))
            self._input = given.get("input")

    def whole(self, given: Mapping[str, Any]) -> None:
        """Tell a block that is complete: its opaque data comes after its end."""
        signature = text_of(given.get("signature")) if given.get("type") == "thinking" else ""
        self.start({**given, "signature": None})
        self.stop()
        self._speech.seal("signature", signature, self._thinking)

    def delta(self, given: Mapping[str, Any]) -> None:
        """Tell what a delta adds."""
        kind = text_of(given.get("type"))
        if kind == "thinking_delta":
            self._think(self._fresh(text_of(given.get("thinking"))))
        elif kind == "text_delta":
            self._say(self._fresh(text_of(given.get("text"))))
        elif kind == "signature_delta":
            self._speech.seal("signature", text_of(given.get("signature")), self._thinking)
        elif kind == "input_json_delta":
            self._argue(text_of(given.get("partial_json")))

    def stop(self) -> None:
        """End the block, as the wire says. A second stop is told, too."""
        if self._thinking is not None:
            self._is_thinking = False
            self._report.tell("thinking.end", block=self._thinking, explicit=True)
        if self._text is not None:
            self._is_speaking = False
            self._report.tell("text.end", block=self._text)
        self._end_call()

    def close(self) -> None:
        """End what the wire left open."""
        if self._is_thinking:
            self._is_thinking = False
            self._report.tell("thinking.end", block=self._thinking, explicit=False)
        if self._is_speaking:
            self._is_speaking = False
            self._report.tell("text.end", block=self._text)
        self._end_call()

    def _end_call(self) -> None:
        if self._call is not None:
            if self._call.is_silent and self._input is not None:
                self._call.add(compact(self._input))
            self._call.end()

    def _fresh(self, text: str) -> str:
        """The text, or nothing where it repeats the start."""
        repeated, self._repeated = self._repeated, ""
        return "" if text and text == repeated else text

    def _open(self, *, explicit: bool) -> None:
        self._is_thinking = True
        self._thinking = self._speech.number()
        self._report.tell("thinking.start", block=self._thinking, channel="raw", explicit=explicit)

    def _think(self, text: str) -> None:
        if not text:
            return
        if not self._is_thinking:
            self._open(explicit=False)
        self._report.tell("thinking.delta", block=self._thinking, channel="raw", text=text)

    def _say(self, text: str) -> None:
        if not text:
            return
        if not self._is_speaking:
            self._is_speaking = True
            self._text = self._speech.number()
            self._report.tell("text.start", block=self._text)
        self._report.tell("text.delta", block=self._text, text=text)

    def _argue(self, arguments: str) -> None:
        if not arguments:
            return
        if self._call is None:
            self._call = Call(self._report, self._number())
            self._call.start("", "")
        self._call.add(arguments)
