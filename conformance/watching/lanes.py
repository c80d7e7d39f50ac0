"""What an exchange says as it comes, in lanes: how much, when, and how it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from conformance.core.events import Event
from conformance.core.excerpts import clipped

Lane = Literal["thinking", "summary", "text", "tools"]
LANES: Final[tuple[Lane, ...]] = ("thinking", "summary", "text", "tools")

CELLS: Final = 128
_PAUSE_MS: Final = 1000.0  # of one lane that is drawn as if it went on
_TAIL: Final = 1000  # characters of a lane that are kept


class LaneTail(Struct):
    """The end of a lane's text. `size` counts characters, of `tools` the calls.

    Bit N of `busy` is where something came in the Nth cell of time.
    """

    text: str = ""
    size: int = 0
    busy: int = 0

    def add(self, text: str) -> None:
        self.text = (self.text + text[-_TAIL:])[-_TAIL:]


class LaneTails:
    """The lanes of one exchange; `take` is given its events. Bounded, however long it goes on."""

    def __init__(self) -> None:
        self.lanes: dict[Lane, LaneTail] = {lane: LaneTail() for lane in LANES}
        self.ms = 0.0  # when the next event comes, since the response head
        self.cell_ms = 1.0
        self.finish = ""
        self.error = ""
        self._latest: tuple[Lane, float] = ("text", 0.0)

    def take(self, events: Sequence[Event]) -> None:
        """What one frame gave rise to, or the joined deltas of many."""
        for event in events:
            if event.layer == "semantic":
                self._take_semantic(event.type, event.data)

    def busy_cells(self, lane: Lane, width: int, until_ms: float) -> list[bool]:
        """For each of `width` parts of the time `until_ms`, whether something came in the lane."""
        busy = self.lanes[lane].busy
        shown = [False] * width
        for cell in range(busy.bit_length()):
            if busy >> cell & 1:
                at = int(cell * self.cell_ms / max(until_ms, 1.0) * width)
                after = int((cell + 1) * self.cell_ms / max(until_ms, 1.0) * width)
                for place in range(min(at, width - 1), min(max(after, at + 1), width)):
                    shown[place] = True
        return shown

    def _take_semantic(self, kind: str, data: Mapping[str, Any]) -> None:
        match kind:
            case "thinking.delta":
                is_summary = data.get("channel") == "summary"
                self._append_text("summary" if is_summary else "thinking", data["text"])
            case "thinking.opaque":
                self._mark_lane("thinking")
            case "text.delta" | "refusal.delta":
                self._append_text("text", data["text"])
            case "tool.start":
                self._begin_call(data.get("name"))
            case "tool.delta":
                self._mark_lane("tools").add(str(data.get("arguments") or ""))
            case "finish":
                self.finish = str(data.get("reason"))
            case "error":
                words = (str(data.get(key) or "") for key in ("code", "message"))
                self.error = clipped(": ".join(filter(None, words)), _TAIL) or "without a word"

    def _begin_call(self, name: object) -> None:
        lane = self._mark_lane("tools")
        lane.add(f"{'  ' if lane.text else ''}{name or '?'} ")
        lane.size += 1

    def _append_text(self, lane: Lane, text: str) -> None:
        tail = self._mark_lane(lane)
        tail.add(text)
        tail.size += len(text)

    def _mark_lane(self, lane: Lane) -> LaneTail:
        """Something came in a lane now."""
        while self.ms >= CELLS * self.cell_ms:
            self.cell_ms *= 2
            for each in self.lanes.values():
                each.busy = _merge_cells(each.busy)
        before, since = self._latest
        begun = since if before == lane and self.ms - since < _PAUSE_MS else self.ms
        self._latest = lane, self.ms
        tail = self.lanes[lane]
        first, last = int(begun / self.cell_ms), int(self.ms / self.cell_ms)
        tail.busy |= (1 << last + 1) - (1 << first)
        return tail


def _merge_cells(busy: int) -> int:
    """The bits of cells that are twice as long."""
    return sum(1 << cell for cell in range(CELLS // 2) if busy >> 2 * cell & 3)
