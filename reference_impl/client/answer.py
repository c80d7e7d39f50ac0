"""An answer: the events of one choice, collected into a turn, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .event import Event
from .turn import Called, Piece, Thought, Turn, Words, made_up_id

How = Literal["completed", "failed", "cut"]


@dataclass(slots=True)
class _Block:
    kind: Literal["thinking", "text", "call"]
    raw: list[str] = field(default_factory=list)
    parts: dict[int, list[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def piece(self) -> Piece:
        text = "".join(self.raw)
        if self.kind == "text":
            return Words(text)
        if self.kind == "call":
            return Called(**self.names)
        parts = tuple("".join(texts) for texts in self.parts.values())
        return Thought(raw=text, parts=parts, **self.names)


class Answer:
    """Collects events. A stream that is cut, or that holds an error, is no answer."""

    def __init__(self) -> None:
        self._made: list[_Block] = []
        self._blocks: dict[int, _Block] = {}
        self._is_done = False
        self.reason = ""
        self.error: Mapping[str, Any] | None = None
        self.cut = ""

    def take(self, events: Iterable[Event]) -> Answer:
        """Add events; those of other choices are skipped."""
        for event in events:
            if event.choice == 0:
                self._add(event.type, event.data)
        return self

    @property
    def how(self) -> How:
        """How the answer ended: `failed` with an error, `cut` without a terminal signal."""
        if self.error is not None:
            return "failed"
        return "completed" if self._is_done and not self.cut else "cut"

    def turn(self, echo: Mapping[str, Any] | None = None) -> Turn:
        """What was thought, said and called, without pieces that hold nothing."""
        pieces = (block.piece() for block in self._made)
        kept = tuple(piece for piece in pieces if piece not in (Thought(), Words("")))
        return Turn("assistant", kept, echo=dict(echo or {}))

    def _add(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "thinking.start":
            self._open("thinking", data)
        elif kind == "text.start":
            self._open("text", data)
        elif kind == "thinking.delta":
            self._think(data)
        elif kind == "text.delta":
            self._block("text", data).raw.append(data["text"])
        elif kind == "thinking.opaque":
            self._seal(data)
        elif kind == "tool.end" and not data.get("hosted"):  # whose result came in the answer
            call_id = data.get("id", made_up_id(data["index"]))
            names = {"id": call_id, "name": data.get("name", ""), "arguments": data["arguments"]}
            self._made.append(_Block("call", names=names))
        else:
            self._end(kind, data)

    def _open(self, kind: Literal["thinking", "text"], data: Mapping[str, Any]) -> None:
        block = _Block(kind)
        if data.get("id"):
            block.names["id"] = data["id"]
        self._blocks[data["block"]] = block
        self._made.append(block)

    def _block(self, kind: Literal["thinking", "text"], data: Mapping[str, Any]) -> _Block:
        """The block of an event; one that was never started is made."""
        if data["block"] not in self._blocks:
            self._open(kind, data)
        return self._blocks[data["block"]]

    def _think(self, data: Mapping[str, Any]) -> None:
        block = self._block("thinking", data)
        if data["channel"] == "summary":
            block.parts.setdefault(data.get("part", 0), []).append(data["text"])
        else:
            block.raw.append(data["text"])

    def _seal(self, data: Mapping[str, Any]) -> None:
        block = self._blocks.get(data.get("block", -1))
        if block is None:
            block = _Block("thinking")
            self._made.append(block)
            # Words behind a seal are a piece of their own: it may belong to them.
            self._blocks = {at: each for at, each in self._blocks.items() if each.kind != "text"}
        block.names[data["kind"]] = data["data"]

    def _end(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "finish":
            self.reason = self.reason or data["reason"]
        elif kind == "error":
            self.error = self.error or data
        elif kind == "done":
            self._is_done = True
        elif kind == "cut":
            self.cut = data["how"]
