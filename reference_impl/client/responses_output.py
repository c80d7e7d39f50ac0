"""The output of a response: which item an event belongs to, and what belongs to none.

Rule 1: an item is known by its id, else by its output index; some gateways change all ids with
every event, others announce several items at one index.
Rule 2: a delta that fits no announced item is reported all the same, as chat deltas are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .event import Report
from .payload import count_of, objects_of, text_of
from .responses_items import CALLS, OURS, Item, ReadCall, ReadMessage, ReadReasoning, ReportedTexts
from .speech import Call, Speech

ItemKind = TypeVar("ItemKind", bound=Item)


class Output:
    """Everything that one response has said so far."""

    def __init__(self, report: Report, speech: Speech) -> None:
        self._report = report
        self._speech = speech
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self._items: list[Item] = []
        self._calls = 0
        self._thoughts = ReportedTexts()  # reported without an item of their own
        self._texts = ReportedTexts()
        self._has_called = False  # a function: those run at the client's, whatever follows
        self._calls_last = False  # a custom tool that a message follows has run at the server's

    @property
    def is_calling(self) -> bool:
        """Whether the client has to run a call now."""
        return self._has_called or self._calls_last

    def add(
        self, item: Mapping[str, Any], index: int | None, *, explicit: bool = True
    ) -> Item | None:
        """Begin an item; None for kinds that say nothing to a client."""
        made = self._made_item(item, explicit=explicit)
        if made is None:
            return None
        self._items.append(made)
        item_id = text_of(item.get("id"))
        if item_id:
            # An item that is announced again begins again.
            before = self._by_id.get(item_id)
            if before and not before.is_done:
                before.close()
            self._by_id[item_id] = made
        if index is not None:
            self._by_index[index] = made
        self._has_called = self._has_called or made.kind == "function_call"
        self._calls_last = made.kind in OURS or (self._calls_last and made.kind == "reasoning")
        if not isinstance(made, ReadMessage):
            made.start(item)
        return made

    def _made_item(self, item: Mapping[str, Any], *, explicit: bool) -> Item | None:
        kind = text_of(item.get("type"))
        if kind == "reasoning":
            return ReadReasoning(
                self._report, self._speech, explicit=explicit, loose=self._thoughts
            )
        if kind == "message":
            phase = text_of(item.get("phase"))
            return ReadMessage(self._report, self._speech, self._texts, phase)
        if kind in CALLS:
            self._speech.pause()
            self._calls += 1
            return ReadCall(Call(self._report, self._calls - 1), kind)
        return None

    def find(self, item_id: Any, index: Any) -> Item | None:
        """The item of an event, by id, else by index; the one added last where there is neither."""
        found = self._by_id.get(text_of(item_id)) if text_of(item_id) else None
        if found is None and count_of(index) is not None:
            return self._by_index.get(index)
        return found or (self._items[-1] if self._items else None)

    def item_of(self, event: Mapping[str, Any], kind: type[ItemKind]) -> ItemKind | None:
        """The item that an event is about, if it is of that kind."""
        item = self.find(event.get("item_id"), event.get("output_index"))
        return item if isinstance(item, kind) else None

    def argue(self, event: Mapping[str, Any]) -> None:
        """Report a fragment of arguments; one after the end of its call begins another."""
        item = self.item_of(event, ReadCall)
        if item is not None and item.is_done:
            again = self.add({"type": item.kind}, count_of(event.get("output_index")))
            item = again if isinstance(again, ReadCall) else None
        if item is not None:
            item.add(text_of(event.get("delta")))

    def think(self, text: str) -> None:
        """Report thinking that no item announced."""
        if text:
            self._thoughts.add(0, text)
            self._speech.think(text)

    def summarise(self, part: int | None, text: str) -> None:
        """Report a delta of a summary that no item announced."""
        if text:
            self._thoughts.add(0, text)
            self._speech.think(text, "summary", part)

    def state_thought(self, text: str, part: int | None = None) -> None:
        """Report stated thinking that no item announced, if it is news."""
        if text and not self._thoughts.knows(text):
            self._thoughts.settle()
            if part is None:
                self.think(text)
            else:
                self.summarise(part, text)
        self._thoughts.settle()

    def say(self, text: str) -> None:
        """Report text that no item announced."""
        if text:
            self._calls_last = False
            self._texts.add(0, text)
            self._speech.say(text)

    def state_text(self, text: str) -> None:
        """Report a stated text that no item announced, if it is news."""
        if text and not self._texts.knows(text):
            self._texts.settle()
            self.say(text)
        self._texts.settle()

    def done(self, item: Mapping[str, Any], index: int | None) -> None:
        """Close an item; one that nobody announced is reported whole, or as far as it was not."""
        found = self._same_item(item, index)
        if found is None and item.get("type") == "reasoning" and self._speech.thinking is not None:
            self._adopt(item, self._speech.thinking)
            return
        found = found or self.add(item, index, explicit=False)
        if found is not None:
            found.done(item)

    def _adopt(self, item: Mapping[str, Any], block: int) -> None:
        """Close the thinking that was reported before its item was known."""
        for part in objects_of(item.get("content")):
            self.state_thought(text_of(part.get("text")))
        for number, part in enumerate(objects_of(item.get("summary"))):
            self.state_thought(text_of(part.get("text")), number)
        self._speech.end_thinking(explicit=True)
        self._speech.seal("encrypted", text_of(item.get("encrypted_content")), block)

    def complete(self, response: Mapping[str, Any]) -> None:
        """Report what only the closing response says, and end what is open."""
        reported = self._thoughts.reported_texts() | self._texts.reported_texts()
        reported.update(text for each in self._items for text in each.reported_texts())
        reported.discard("")
        for index, item in enumerate(objects_of(response.get("output"))):
            if self._same_item(item, index) is None and not _texts_of_item(item) <= reported:
                made = self.add(item, None)
                if made is not None:
                    made.done(item)
        self.close()

    def _same_item(self, item: Mapping[str, Any], index: int | None) -> Item | None:
        """The item that a later event states again: of that id, or of that index and type."""
        by_id = self._by_id.get(text_of(item.get("id"))) if item.get("id") else None
        found = by_id or (self._by_index.get(index) if index is not None else None)
        if found is None and index is None and self._items and not self._items[-1].is_done:
            found = self._items[-1]
        fits = found is not None and (found is by_id or found.kind == item.get("type"))
        return found if fits else None

    def close(self) -> None:
        for item in self._items:
            if not item.is_done:
                item.close()
        self._speech.pause()


def _texts_of_item(item: Mapping[str, Any]) -> set[str]:
    """Return the texts of an item, to compare with those that were reported; never empty."""
    parts = [*objects_of(item.get("content")), *objects_of(item.get("summary"))]
    texts = {text_of(part.get("text")) for part in parts}
    return (texts | {text_of(item.get("call_id"))}) - {""} or {""}
