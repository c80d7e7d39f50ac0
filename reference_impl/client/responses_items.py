"""The output items of a Responses stream: reasoning, messages, calls.

Servers state a text up to five times: in deltas, in its done event, in the closed part, in the
closed item and in the closing response. It is reported the first time that it comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .event import Report
from .payload import objects_of, text_of
from .speech import Call, Speech

# Kinds of item that are calls -> where their arguments stand.
CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}
# Of these, what the client has to run; the rest ran on the server.
OURS: Final = frozenset({"function_call", "custom_tool_call"})


class ReportedTexts:
    """Texts by part index: what has been said of each, and whether a statement is news."""

    def __init__(self) -> None:
        self._by_part: dict[int | None, list[str]] = {}
        self._texts: list[str] = []
        self._stated: set[str] = set()

    def add(self, part: int | None, text: str) -> None:
        self._by_part.setdefault(part, []).append(text)
        self._texts.append(text)

    def is_news(self, part: int | None, text: str) -> bool:
        """Whether a stated text was not said before: neither under its index nor as a whole."""
        return bool(text) and part not in self._by_part and not self.knows(text)

    def knows(self, text: str) -> bool:
        """Whether what was said in one go is that text."""
        self._texts = ["".join(self._texts)]
        return text == self._texts[0] or text in self._stated

    def reported_texts(self) -> set[str]:
        """Every text as a whole, as far as one can see where it ends."""
        return {*self._stated, "".join(self._texts), *map("".join, self._by_part.values())}

    def settle(self) -> None:
        """End the text so far; what follows is another one."""
        if self._texts:
            self._stated.add("".join(self._texts))
        self._by_part.clear()
        self._texts.clear()


class ReadReasoning:
    """An item of type `reasoning`: one block, reported raw or as a summary in parts."""

    kind = "reasoning"

    def __init__(
        self, report: Report, speech: Speech, *, explicit: bool, loose: ReportedTexts
    ) -> None:
        self._report = report
        self._speech = speech
        self._explicit = explicit
        self._loose = loose
        self._block: int | None = None
        self._parts: set[int] = set()
        self._raw = ReportedTexts()
        self._summary = ReportedTexts()
        self.is_done = False

    def start(self, item: Mapping[str, Any]) -> None:
        """Report that the block begins: raw where it has content, or where an empty list waits.

        Sealed items may have such a list, too: they are reported as a summary, if at all.
        """
        content = item.get("content")
        is_raw = bool(content) or (content == [] and "encrypted_content" not in item)
        self._speech.pause()
        self._block = self._speech.number()
        self._report.add(
            "thinking.start",
            block=self._block,
            channel="raw" if is_raw else "summary",
            explicit=self._explicit,
            id=(text_of(item.get("id")) or None) if self._explicit else None,
        )

    def think(self, index: int | None, text: str) -> None:
        if text:
            self._speech.pause()
            self._raw.add(index, text)
            self._report.add("thinking.delta", block=self._block, channel="raw", text=text)

    def state(self, index: int | None, text: str) -> None:
        """Report raw thinking that was stated whole, if it is news."""
        if self._raw.is_news(index, text) and not self._loose.knows(text):
            self.think(index, text)

    def part(self, index: int) -> None:
        """Report that a part of the summary begins."""
        self._parts.add(index)
        self._report.add("thinking.part", block=self._block, part=index)

    def summarise(self, index: int | None, text: str) -> None:
        """Report a delta of the summary, after the start of its part."""
        if not text:
            return
        self._speech.pause()
        if index is not None and index not in self._parts:
            self.part(index)
        self._summary.add(index, text)
        self._report.add(
            "thinking.delta", block=self._block, channel="summary", text=text, part=index
        )

    def state_summary(self, index: int | None, text: str) -> None:
        """Report a part of the summary that was stated whole, if it is news."""
        if self._summary.is_news(index, text):
            self.summarise(index, text)

    def done(self, item: Mapping[str, Any]) -> None:
        """Report what only the closed item says, and its end."""
        for index, part in enumerate(objects_of(item.get("content"))):
            self.state(index, text_of(part.get("text")))
        for index, part in enumerate(objects_of(item.get("summary"))):
            self.state_summary(index, text_of(part.get("text")))
        self._end_item(explicit=True)
        self._speech.seal("encrypted", text_of(item.get("encrypted_content")), self._block)

    def reported_texts(self) -> set[str]:
        return self._raw.reported_texts() | self._summary.reported_texts()

    def close(self) -> None:
        self._end_item(explicit=False)

    def _end_item(self, *, explicit: bool) -> None:
        if self.is_done:
            return
        self.is_done = True
        self._report.add("thinking.end", block=self._block, explicit=explicit)


class ReadMessage:
    """An item of type `message`: its texts are one block, begun by the first that is not empty.

    `phase` is what the text is for (`commentary`), where the wire says so.
    """

    kind = "message"

    def __init__(self, report: Report, speech: Speech, loose: ReportedTexts, phase: str) -> None:
        self._report = report
        self._speech = speech
        self._loose = loose
        self._block: int | None = None
        self._phase = phase or None
        self._texts = ReportedTexts()
        self._refusals = ReportedTexts()
        self.is_done = False

    def say(self, index: int | None, text: str) -> None:
        if not text:
            return
        self._speech.pause()
        if self._block is None:
            self._block, self.is_done = self._speech.number(), False
            self._report.add("text.start", block=self._block)
        self._texts.add(index, text)
        self._report.add("text.delta", block=self._block, text=text, phase=self._phase)

    def state(self, index: int | None, text: str) -> None:
        """Report a text that was stated whole, if it is news."""
        if self._texts.is_news(index, text) and not self._loose.knows(text):
            self.say(index, text)

    def refuse(self, index: int | None, text: str) -> None:
        if text:
            self._refusals.add(index, text)
            self._speech.refuse(text)

    def state_refusal(self, index: int | None, text: str) -> None:
        """Report a refusal that was stated whole, if it is news."""
        if self._refusals.is_news(index, text):
            self.refuse(index, text)

    def done(self, item: Mapping[str, Any]) -> None:
        """Report what only the closed item says, and its end."""
        for index, part in enumerate(objects_of(item.get("content"))):
            self.state(index, text_of(part.get("text")))
            self.state_refusal(index, text_of(part.get("refusal")))
        self.close()

    def reported_texts(self) -> set[str]:
        return self._texts.reported_texts()

    def close(self) -> None:
        self.is_done = True
        if self._block is not None:
            self._report.add("text.end", block=self._block)
        self._block = None


class ReadCall:
    def __init__(self, call: Call, kind: str) -> None:
        self._call = call
        self.kind = kind
        self.is_done = False

    def start(self, item: Mapping[str, Any]) -> None:
        call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
        self._call.start(call_id, text_of(item.get("name")))

    def add(self, arguments: str) -> None:
        self._call.add(arguments)

    def state(self, arguments: str) -> None:
        """Report arguments that were stated whole, if no fragment came."""
        if self._call.is_silent:
            self._call.add(arguments)

    def done(self, item: Mapping[str, Any]) -> None:
        """Report the whole call."""
        arguments = text_of(item.get(CALLS.get(self.kind, "")))
        self.state(arguments)
        self._call.end()
        self.is_done = True

    def reported_texts(self) -> set[str]:
        """The id under which the call was reported."""
        return {self._call.id}

    def close(self) -> None:
        """End the call with what came of it."""
        self._call.end()
        self.is_done = True


Item = ReadReasoning | ReadMessage | ReadCall
