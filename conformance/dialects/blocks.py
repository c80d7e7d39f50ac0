"""Blocks of thinking and text of one choice, with the starts and ends a client would report.

Rule 1: one counter numbers thinking and text blocks of a choice alike, from 0.
Rule 2: a block starts before its first non-empty delta, or when the wire announces it.
Rule 3: `explicit` says that the wire itself marked the start or the end.
Rule 4: a block ends once; that the wire says it twice is a fact for rules of the wire.
Rule 5: white space before the first word of a block is `blank`: it is not shown, and no order
hangs on it.
Rule 6: the first words of a block of thinking are `split` if it and the two before it make one
sentence, and nothing else came between them.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from conformance.dialects.sink import Sink

Channel = Literal["raw", "summary"]
NOTICE_ROLES: Final = frozenset({"developer", "system", "user"})
"""The author of a text that is not the model's: a notice of the application is labelled so."""

NEAR: Final = 4
"""The most frames from the last words of a block to the start of the next: its end, a signature."""

BETWEEN_CALLS: Final = "between_calls"
"""The phase of thinking after a hosted call that some text announced."""

_OPEN_ENDS: Final = frozenset(",;(-\u2013\u2014")  # a sentence continues after these
_CONTINUES: Final = frozenset(" \t,.;:!?)'")  # no sentence begins with these


class Block(Struct):
    """One run of thinking (`channel` raw or summary) or of text (`channel` None).

    `phase` is what the wire says a text is for (`commentary`), or whose it is where that is one of
    `NOTICE_ROLES`; empty where it says neither. That of thinking may be `BETWEEN_CALLS`.
    """

    number: int
    channel: Channel | None
    is_open: bool = True
    phase: str = ""
    has_word: bool = False  # it has text other than white space
    frame: int = 0  # the number of the frame that began it


class Blocks:
    """Numbers the blocks of one choice and reports what happens to them."""

    __slots__ = ("_choice", "_count", "_joints", "_latest", "_sink")

    def __init__(self, choice: int, sink: Sink) -> None:
        self._choice = choice
        self._count = 0
        self._sink = sink
        self._latest = (-2, 0, "")  # the last words of thinking: their block, frame and text
        self._joints = 0  # blocks in a row that each continue a sentence of the one before

    def think(
        self, channel: Channel, *, explicit: bool = False, item_id: str = "", phase: str = ""
    ) -> Block:
        block = self._next_block(channel)
        block.phase = phase
        more = {"id": item_id} if item_id else {}
        self._emit("thinking.start", block, channel=channel, explicit=explicit, **more)
        return block

    def write(self, phase: str = "") -> Block:
        """Open a block of text."""
        block = self._next_block(None)
        block.phase = phase
        self._emit("text.start", block)
        return block

    def thought(
        self, block: Block, channel: Channel | None, text: str, part: int | None = None
    ) -> None:
        """Report non-empty thinking; `part` is the index of a summary part."""
        data = {"choice": self._choice, "block": block.number, "channel": channel, "text": text}
        if part is not None:
            data["part"] = part
        if block.phase:
            data["phase"] = block.phase
        if not block.has_word and _see_word(block, text, data) and self._is_split(block, text):
            data["split"] = True
        if block.has_word:
            self._latest = (block.number, self._sink.number, text)
        self._sink.emit("thinking.delta", data)

    def text(self, block: Block, text: str) -> None:
        """Report non-empty text."""
        data = {"choice": self._choice, "block": block.number, "text": text}
        if block.phase:
            data["phase"] = block.phase
        if not block.has_word:
            _see_word(block, text, data)
        self._sink.emit("text.delta", data)

    def part(self, block: Block, part: int) -> None:
        """Report that a summary part begins."""
        self._emit("thinking.part", block, part=part)

    def opaque(self, block: Block | None, kind: str, data: str) -> None:
        """Report data that is never displayed; outside a block it belongs to none."""
        self._emit("thinking.opaque", block, kind=kind, data=data)

    def close(self, block: Block | None, *, explicit: bool = False) -> None:
        """Report the end of a block that is open."""
        if block is None or not block.is_open:
            return
        block.is_open = False
        if block.channel is None:
            self._emit("text.end", block)
        else:
            self._emit("thinking.end", block, explicit=explicit)

    def _is_split(self, block: Block, text: str) -> bool:
        """Rule 6, at the first words of a block."""
        number, frame, before = self._latest
        is_next = number == block.number - 1 and block.frame - frame <= NEAR
        self._joints = self._joints + 1 if is_next and _is_one_sentence(before, text) else 0
        return self._joints > 1

    def _emit(self, event: str, block: Block | None, **more: Any) -> None:
        place = {} if block is None else {"block": block.number}
        self._sink.emit(event, {"choice": self._choice, **place, **more})

    def _next_block(self, channel: Channel | None) -> Block:
        block = Block(self._count, channel, frame=self._sink.number)
        self._count += 1
        return block


def _see_word(block: Block, text: str, data: dict[str, Any]) -> bool:
    """Marks a delta of white space before the first word; whether the block has a word."""
    if text.isspace():
        data["blank"] = True
    else:
        block.has_word = True
    return block.has_word


def _is_one_sentence(before: str, text: str) -> bool:
    """Whether a text breaks off in a sentence, and the next one continues it."""
    end, start = before.rstrip()[-1:], text[0]
    breaks_off = end.isalnum() or end in _OPEN_ENDS
    is_joined = before[-1] in " \t" or start in _CONTINUES
    return breaks_off and (is_joined or (start.isalpha() and not start.isupper()))
