"""Output items of a Responses stream: which one an event belongs to, and its texts so far.

Rule 1: an event belongs to the item at its `output_index` if the ids agree, else to the open item
        with its id, else to the item at its index. So rotating ids (GitHub Copilot) are matched
        by index, and items that share or change an index (OGX) by id.
Rule 2: a text that only a `.done` or the finished item carries has still to be said; one that
        deltas gave already is not said again, not even if its part index moved on the way.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from conformance.dialects.blocks import BETWEEN_CALLS, Block
from conformance.dialects.json_edge import mapping, string, whole
from conformance.dialects.openai_responses.vocabulary import TextKind
from conformance.dialects.tool_call import ToolCall

MOST_ITEMS: Final = 4096
MOST_PARTS: Final = 4096
MOST_KEPT: Final = 16 * 1024 * 1024  # characters per item and kind, kept to compare

TOOL_TYPES: Final = frozenset({"function_call", "custom_tool_call"})
ACTION_TYPES: Final = frozenset(
    {
        *("computer_call", "shell_call", "local_shell_call", "apply_patch_call"),
        "mcp_approval_request",
    }
)
"""Items without a name and arguments of their own that the client has to act on."""
SEARCHED_BY: Final = {"type": "tool_search_call", "execution": "client"}
"""One more, where the application finds the tools (RequiredToolSearchOutput of openai-openapi)."""


class _SentText:
    """Text so far, up to a limit; beyond it nothing counts as new."""

    __slots__ = ("_pieces", "_size", "parts")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self.parts: set[int | None] = set()

    def add(self, text: str) -> None:
        self._size += len(text)
        if self._size <= MOST_KEPT:
            self._pieces.append(text)

    def covers(self, text: str) -> bool:
        if self._size > MOST_KEPT:
            return True
        return self._size == len(text) and "".join(self._pieces) == text


class Item:
    """One output item, or (`type` empty) everything that came without an announced item."""

    __slots__ = (
        "_kept",
        "_sent",
        "id",
        "index",
        "is_open",
        "parts",
        "phase",
        "text",
        "thinking",
        "tool",
        "type",
    )

    def __init__(self, kind: str, item_id: str, index: int | None, phase: str = "") -> None:
        self.type = kind
        self.id = item_id
        self.index = index
        self.phase = phase  # of a message: commentary, final_answer; of thinking: between_calls
        self.is_open = True
        self.thinking: Block | None = None
        self.text: Block | None = None
        self.tool: ToolCall | None = None
        self.parts: set[int] = set()  # summary parts that began
        self._kept = 0  # parts of all that was said
        self._sent: defaultdict[tuple[TextKind, int | None], _SentText] = defaultdict(_SentText)

    @property
    def is_full(self) -> bool:
        """Whether it has more parts than are kept."""
        return self._kept > MOST_PARTS or len(self.parts) > MOST_PARTS

    def keep(self, kind: TextKind, part: int | None, place: int | None, text: str) -> bool:
        """Remember a text; whether its part is new, so that there may be too many now.

        Loose text has a place, the output index that it came under.
        """
        sent = self._sent[kind, place]
        sent.add(text)
        if part in sent.parts:
            return False
        sent.parts.add(part)
        self._kept += 1
        return True

    def has_sent(self, kind: TextKind, part: int | None, place: int | None) -> bool:
        sent = self._sent.get((kind, place))
        return sent is not None and part in sent.parts

    def covers(self, kind: TextKind, place: int | None, text: str) -> bool:
        """Whether the text is the whole text of a kind at a place."""
        sent = self._sent.get((kind, place))
        return sent is not None and sent.covers(text)

    def forget(self, kind: TextKind, place: int | None) -> None:
        """A finished item took over the texts."""
        if (sent := self._sent.pop((kind, place), None)) is not None:
            self._kept -= len(sent.parts)


_CALLERS_OWN: Final = frozenset({"function_call", "custom_tool_call"})  # they end the answer


class Items:
    """The items of one response, at most `MOST_ITEMS`."""

    __slots__ = ("_at", "_before", "_by_id", "_count", "_open")

    def __init__(self) -> None:
        self._at: dict[int, Item] = {}
        self._before = ""  # message, or hosted: a call of a hosted tool after one
        self._by_id: dict[str, Item] = {}
        self._count = 0
        self._open: dict[Item, None] = {}  # in order of appearance

    def find(self, event: dict[str, Any]) -> Item | None:
        """The item that an event belongs to (rule 1)."""
        index = event.get("output_index")
        here = self._at.get(index) if type(index) is int else None
        item_id = id_of(event)
        if here is not None and here.id == item_id:
            return here
        named = self._by_id.get(item_id)
        return named if named is not None and (named.is_open or here is None) else here

    def add(self, kind: str, event: dict[str, Any]) -> Item | None:
        """A new item at its index and under its id; None if there are too many."""
        if self._count >= MOST_ITEMS:
            return None
        self._count += 1
        phase = self._phase(kind) or string(mapping(event.get("item")).get("phase"))
        item = Item(kind, id_of(event), whole(event.get("output_index")), phase)
        self._open[item] = None
        if item.index is not None:
            self._at[item.index] = item
        if item.id:
            self._by_id[item.id] = item
        return item

    def _phase(self, kind: str) -> str:
        """That of thinking after a message which announced a hosted call, and after that call."""
        if kind == "message":
            self._before = kind
        elif self._before and kind.endswith("_call") and kind not in _CALLERS_OWN:
            self._before = "hosted"
        return BETWEEN_CALLS if kind == "reasoning" and self._before == "hosted" else ""

    def twin(self, event: dict[str, Any]) -> Item | None:
        """The open item that an announcement with the same index and id says again."""
        item = self.find(event)
        if item is None or not item.is_open or item.id != id_of(event):
            return None
        return item if item.index == whole(event.get("output_index")) else None

    def finish(self, item: Item) -> None:
        item.is_open = False
        self._open.pop(item, None)

    def finish_all(self) -> list[Item]:
        items = list(self._open)
        for item in items:
            self.finish(item)
        return items


def id_of(event: dict[str, Any]) -> str:
    """The item id that an event names: its own `item_id`, else its item's `id`."""
    item_id = event.get("item_id")
    if item_id and isinstance(item_id, str):
        return item_id
    return string(mapping(event.get("item")).get("id"))
