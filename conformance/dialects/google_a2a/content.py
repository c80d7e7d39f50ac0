"""The texts of one task so far.

Rule 1: messages of a task that is under way tell of the work, often in pieces: their texts have the
        phase `commentary`. What artifacts, a lone message and the last status say has none.
Rule 2: parts whose metadata mark them as thoughts are thinking, wherever they are.
Rule 3: agents say again as a whole what they streamed, in a message, an artifact or both; that is
        not said again (`repeated_texts.py`). Appended chunks always say something new.
Rule 4: an artifact that is not appended replaces the one with its id.
Rule 5: agents carry out their tools themselves. Where parts of data show a call, it is one by its
        id, however often it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.google_a2a.repeated_texts import RepeatedTexts
from conformance.dialects.google_a2a.vocabulary import OVERFLOW, mark_of
from conformance.dialects.json_edge import arguments_text, mapping, string
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

_MOST: Final = 4096  # artifacts, or calls

Part = Mapping[str, Any]


class TaskContent:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._run: Block | None = None
        self._of = ""  # what spoke last: a status, an artifact, or a message
        self._earlier = {True: RepeatedTexts(), False: RepeatedTexts()}  # thoughts, and text
        self._artifacts: set[str] = set()
        self._calls: set[str] = set()
        self.is_over = False

    def chunk(self, artifact_id: str, *, is_appended: bool) -> str:
        """What an artifact update is to the artifacts that came before."""
        is_known = artifact_id in self._artifacts
        if not is_appended and not self._is_full(self._artifacts):
            self._artifacts.add(artifact_id)
        if is_appended:
            return "more" if is_known or self.is_over else "lost"
        return "again" if is_known else "first"

    def add_parts(self, parts: Sequence[Part], of: str, *, is_appended: bool, phase: str) -> None:
        """What parts of a holder say; each has its `kind` and maybe the mark `thought`."""
        is_elsewhere, self._of = of != self._of, of
        if is_elsewhere:
            self.close()
        left = dict.fromkeys(self._earlier, 0)  # characters that were said before
        for thinks, earlier in self._earlier.items():
            text = "".join(each["text"] for each in parts if _speaks(each, thinks=thinks))
            if not is_appended:
                left[thinks] = earlier.repeated(text, is_elsewhere=is_elsewhere)
            if not left[thinks]:
                earlier.add(text)
        for part in parts:
            if part["kind"] == "text":
                thinks, text = part.get("thought") is True, part["text"]
                self._add_text(text[left[thinks] :], phase, thinks=thinks)
                left[thinks] = max(0, left[thinks] - len(text))
            elif part["kind"] == "data":
                self._use_tool(part)

    def has_thought(self, text: str) -> bool:
        """Whether a text is all that was said as a thought, of late or as a whole."""
        return self._earlier[True].has(text)

    def close(self) -> None:
        """Ends what is open."""
        self._blocks.close(self._run)
        self._run = None

    def _add_text(self, text: str, phase: str, *, thinks: bool) -> None:
        if not text:
            return
        run = self._run
        kind = ("raw", "") if thinks else (None, phase)
        if run is None or (run.channel, run.phase) != kind:
            self.close()
            run = self._run = self._blocks.think("raw") if thinks else self._blocks.write(phase)
        if thinks:
            self._blocks.thought(run, "raw", text)
        else:
            self._blocks.text(run, text)

    def _use_tool(self, part: Part) -> None:
        """A call, or what it gave; other data say nothing."""
        kind = mark_of(part, "type")
        if kind in ("function_call", "function_response"):
            for earlier in self._earlier.values():
                earlier.end_step()
        if kind == "function_call":
            self._call(part)

    def _call(self, part: Part) -> None:
        call = mapping(part.get("data"))
        call_id = string(call.get("id"))
        if call_id in self._calls or self._is_full(self._calls):
            return
        self._calls.add(call_id)
        self.close()
        if signature := string(mark_of(part, "thought_signature")):
            self._blocks.opaque(None, "signature", signature)
        number = len(self._calls) - 1
        tool = ToolCall(0, number, call_id, string(call.get("name")), is_hosted=True)
        tool.start(self._sink)
        if text := arguments_text(call.get("args")):
            tool.add(self._sink, text)
        tool.end(self._sink)

    def _is_full(self, known: set[str]) -> bool:
        """Whether there were too many to follow, which is reported once."""
        if len(known) >= _MOST and not self.is_over:
            self.is_over = True
            self._sink.wire(OVERFLOW, {})
        return len(known) >= _MOST


def _speaks(part: Part, *, thinks: bool) -> bool:
    return part["kind"] == "text" and (part.get("thought") is True) is thinks
