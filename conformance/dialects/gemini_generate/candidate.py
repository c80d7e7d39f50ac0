"""One candidate of an answer while it comes: what its parts mean to a client.

Rule 1: thoughts and text form runs; a run ends when a part of another kind comes. A part without
        text opens and ends nothing.
Rule 2: a call that comes whole starts, has its arguments and ends at once. One that `willContinue`
        ends with the first part that says nothing of that, or when anything else comes; its
        arguments are reported then. Code that the server runs is a hosted call.
Rule 3: a signature is reported before what its part says; it belongs to no block, since a call or a
        text carries it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.gemini_generate.partial_args import PartialArgs
from conformance.dialects.gemini_parts import (
    CALL,
    continues_call,
    kind_of,
    signature_of,
    stays_open,
)
from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

CODE: Final = "code_execution"
_FILTERED: Final = frozenset(
    {
        *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
    }
)
_REASONS: Final = {
    **dict.fromkeys(_FILTERED, "content_filter"),
    "STOP": "stop",
    "MAX_TOKENS": "length",
}
_UNSPECIFIED: Final = frozenset(  # default values, which the API says are unused
    {"FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"}
)
# Beyond these the numbers of the Gemini API and of Vertex AI differ.
_NUMBERED: Final = ("", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")


class Candidate:
    __slots__ = (
        "_arguments",
        "_blocks",
        "_calls",
        "_number",
        "_open_call",
        "_run",
        "_sink",
        "_started",
        "is_finished",
    )

    def __init__(self, number: int, sink: Sink) -> None:
        self._number = number
        self._sink = sink
        self._blocks = Blocks(number, sink)
        self._run: Block | None = None
        self._calls = 0
        self._open_call: ToolCall | None = None
        self._arguments = PartialArgs()  # of the open call
        self._started = False
        self.is_finished = False

    @property
    def calls(self) -> int:
        """How many calls came, those that the server carries out left out."""
        return self._calls

    @property
    def has_open_call(self) -> bool:
        """Whether more of a call is announced."""
        return self._open_call is not None

    def start(self) -> None:
        """Reports that the candidate speaks, once."""
        if not self._started:
            self._started = True
            self._sink.start_message(choice=self._number)

    def read(self, part: dict[str, Any]) -> None:
        if signature := signature_of(part):
            self._blocks.opaque(None, "signature", signature)
        if self._open_call is not None and not continues_call(part):
            self._end_call(self._open_call, None)
        match kind_of(part):
            case "thought":
                self._add_text(part["text"], is_thought=True)
            case "text":
                self._add_text(string(part["text"]), is_thought=False)
            case "functionCall":
                self._call(mapping(part[CALL]))
            case "executableCode":
                code = mapping(part["executableCode"])
                self._carry_out(ToolCall(self._number, self._calls, "", CODE, is_hosted=True), code)
            case "inlineData" | "fileData":
                self._sink.show(self._number)
                self.close()
            case "functionResponse" if self.is_finished:
                # The server carried the call out that the answer seemed to end with.
                self.is_finished = False
                self._sink.emit("message.start", {"choice": self._number, "resumed": True})
            case _:
                self.close()

    def finish(self, reason: str) -> None:
        """Reports why the candidate ended, in the words of all dialects."""
        self.close()
        self.is_finished = True
        named = _REASONS.get(reason, reason)
        self._sink.finish(named, self._number)

    def close(self) -> None:
        """Ends the run and the call: another thing comes, or the answer is over."""
        self._blocks.close(self._run)
        self._run = None
        if self._open_call is not None:
            self._end_call(self._open_call, None)

    def _add_text(self, text: str, *, is_thought: bool) -> None:
        if not text:
            return
        if self._run is None or (self._run.channel is not None) is not is_thought:
            self.close()
            self._run = self._blocks.think("raw") if is_thought else self._blocks.write()
        if is_thought:
            self._blocks.thought(self._run, "raw", text)
        else:
            self._blocks.text(self._run, text)

    def _call(self, call: dict[str, Any]) -> None:
        begun = self._open_call or self._begin_call(call)
        self._arguments.add(call.get("partialArgs"))
        if not stays_open(call):
            self._end_call(begun, call.get("args"))

    def _begin_call(self, call: dict[str, Any]) -> ToolCall:
        self.close()
        named = string(call.get("id")), string(call.get("name"))
        begun = ToolCall(self._number, self._calls, *named)
        begun.start(self._sink)
        self._calls += 1
        self._open_call, self._arguments = begun, PartialArgs()
        return begun

    def _end_call(self, call: ToolCall, whole: Any) -> None:
        self._open_call = None
        if text := self._arguments.joined(whole) or arguments_text(whole) or _no_object(whole):
            call.add(self._sink, text)
        call.end(self._sink)

    def _carry_out(self, call: ToolCall, arguments: Any) -> None:
        self.close()
        call.start(self._sink)
        if text := arguments_text(arguments) or _no_object(arguments):
            call.add(self._sink, text)
        call.end(self._sink)


def reason_of(stated: Any) -> str:
    """The name of a finish reason, which stands as a number where a request asks for numbers.

    The default value of the enum, spelled out, is no reason.
    """
    if not isinstance(stated, int) or isinstance(stated, bool):
        name = string(stated)
        return "" if name in _UNSPECIFIED else name
    return _NUMBERED[stated] if 0 <= stated < len(_NUMBERED) else "OTHER"


def is_blocked(feedback: Any) -> bool:
    """Whether feedback on a prompt says why it was blocked; default values state nothing."""
    reason = mapping(feedback).get("blockReason")
    return bool(reason) and not (isinstance(reason, str) and reason in _UNSPECIFIED)


def _no_object(arguments: Any) -> str:
    """Arguments that are neither an object nor a text, as text."""
    return "" if arguments is None or arguments == "" else msgspec.json.encode(arguments).decode()
