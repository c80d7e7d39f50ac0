"""Turns of a conversation: what was thought, said, called and answered, in the order it came.

An answer is the events of one choice, collected into a turn, and how it ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from .event import Event, Report
from .payload import decode, object_of

Role = Literal["system", "user", "assistant", "tool"]
_MADE_UP: Final = re.compile(r"call_\d+")


def made_up_id(index: int) -> str:
    """Return the id of a call whose API gave none."""
    return f"call_{index}"


@dataclass(frozen=True, slots=True)
class Thought:
    """One block of thinking: raw text, or the parts of a summary, and what seals it.

    The opaque data (`signature`, `encrypted`, `redacted`) is for the API alone, never for eyes.
    """

    raw: str = ""
    parts: tuple[str, ...] = ()
    id: str = ""
    signature: str = ""
    encrypted: str = ""
    redacted: str = ""

    @property
    def text(self) -> str:
        """The text that may be shown: the raw thinking, else the summary."""
        return self.raw or "\n\n".join(self.parts)


@dataclass(frozen=True, slots=True)
class Words:
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call; `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str

    @property
    def values(self) -> dict[str, Any]:
        """The arguments as an object; what the model wrote otherwise is none."""
        return object_of(decode(self.arguments))

    @property
    def known_id(self) -> str:
        """The id that the API gave; empty where it gave none."""
        return "" if _MADE_UP.fullmatch(self.id) else self.id


Piece = Thought | Words | Called


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of one side. `call_id` is the call that a turn of role `tool` answers.

    `echo` holds fields of a chat message that have to go back as they came.
    """

    role: Role
    pieces: tuple[Piece, ...] = ()
    call_id: str = ""
    echo: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Words))

    @property
    def thinking(self) -> str:
        """The thinking that may be shown, joined as it was streamed."""
        return "".join(thought.text for thought in self.thoughts)

    @property
    def streamed(self) -> str:
        """All thinking run together, of summaries their parts."""
        return "".join("".join(thought.parts) or thought.raw for thought in self.thoughts)

    @property
    def thinking_first(self) -> tuple[Piece, ...]:
        """The pieces, those of thinking in front."""
        return tuple(sorted(self.pieces, key=lambda piece: not isinstance(piece, Thought)))

    @property
    def spoken(self) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if not isinstance(piece, Thought))

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Thought))

    @property
    def calls(self) -> tuple[Called, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Called))


def text_turn(role: Role, text: str) -> Turn:
    return Turn(role, (Words(text),))


def result_turn(call_id: str, text: str) -> Turn:
    return Turn("tool", (Words(text),), call_id)


def turns_to_model(results: Iterable[tuple[str, str]], text: str) -> list[Turn]:
    """Return the turns of one entry of a user: results by the ids of their calls, then a text."""
    outcomes = [result_turn(*result) for result in results]
    return [*outcomes, text_turn("user", text)] if text else outcomes


def events_of(turn: Turn) -> list[Event]:
    """The events of a turn that is known whole, its texts in one delta each."""
    report = Report()
    report.add("message.start", role=turn.role)
    blocks = iter(range(len(turn.pieces)))
    calls = iter(range(len(turn.pieces)))
    for piece in turn.pieces:
        if isinstance(piece, Thought):
            _report_thought(report, piece, blocks)
        elif isinstance(piece, Words):
            block = next(blocks)
            report.add("text.start", block=block)
            report.add("text.delta", block=block, text=piece.text)
            report.add("text.end", block=block)
        else:
            index, fields = next(calls), {"id": piece.id or None, "name": piece.name or None}
            report.add("tool.start", index=index, **fields)
            report.add("tool.delta", index=index, arguments=piece.arguments)
            report.add("tool.end", index=index, **fields, arguments=piece.arguments)
    return report.take()


def _report_thought(report: Report, thought: Thought, blocks: Iterator[int]) -> None:
    """A block of thinking, its opaque data after its end; redacted thinking is no block."""
    block: int | None = None
    if thought.text or thought.signature or thought.encrypted:
        block, channel = next(blocks), "raw" if thought.raw else "summary"
        report.add("thinking.start", block=block, channel=channel, explicit=False)
        if thought.raw:
            report.add("thinking.delta", block=block, channel="raw", text=thought.raw)
        for part, text in enumerate(thought.parts):
            report.add("thinking.part", block=block, part=part)
            report.add("thinking.delta", block=block, channel="summary", part=part, text=text)
        report.add("thinking.end", block=block, explicit=False)
    for kind in ("signature", "encrypted", "redacted"):
        data = getattr(thought, kind)
        if data:
            report.add("thinking.opaque", block=block, kind=kind, data=data)


Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryForm:
    """The form of the entries of one API.

    `is_answer`: the model said it. `body` is the whole answer that such entries, one behind the
    other, would be. `given` are the turns of any other entry; None where it has no form of its own.
    """

    is_answer: Callable[[Entry], bool]
    body: Callable[[Sequence[Entry]], dict[str, Any]]
    given: Callable[[Entry], Iterable[Turn] | None]


class Results:
    """Which call a result answers: by its id, else by its name, else the next one in line.

    Some APIs give calls no ids, and want the name back. `expect` every turn of a history, and ask
    for the call of every result.
    """

    def __init__(self) -> None:
        self._open: list[Called] = []

    def expect(self, turn: Turn) -> None:
        """Note the calls of a turn; those before it are not answered any more."""
        self._open = list(turn.calls)

    def called(self, result: Turn) -> Called:
        """The call that a result answers; one of that name where nothing else is known."""
        by_id = (call for call in self._open if call.id == result.call_id)
        by_name = (call for call in self._open if call.name == result.call_id)
        call = next(by_id, None) or next(by_name, None) or next(iter(self._open), None)
        if call is None:
            return Called("", result.call_id, "")
        self._open.remove(call)
        return call


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
        """Return the thinking, texts and calls as a turn, without empty pieces."""
        pieces = (block.piece() for block in self._made)
        kept = tuple(piece for piece in pieces if piece not in (Thought(), Words("")))
        return Turn("assistant", kept, echo=dict(echo or {}))

    def _add(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "thinking.start":
            self._open("thinking", data)
        elif kind == "text.start":
            self._open("text", data)
        elif kind == "thinking.delta":
            self._read_thinking(data)
        elif kind == "text.delta":
            self._read_block("text", data).raw.append(data["text"])
        elif kind == "thinking.opaque":
            self._seal(data)
        elif kind == "tool.end" and not data.get("hosted"):  # whose result came in the answer
            call_id = data.get("id", made_up_id(data["index"]))
            names = {"id": call_id, "name": data.get("name", ""), "arguments": data["arguments"]}
            self._made.append(_Block("call", names=names))
        else:
            self._end_item(kind, data)

    def _open(self, kind: Literal["thinking", "text"], data: Mapping[str, Any]) -> None:
        block = _Block(kind)
        if data.get("id"):
            block.names["id"] = data["id"]
        self._blocks[data["block"]] = block
        self._made.append(block)

    def _read_block(self, kind: Literal["thinking", "text"], data: Mapping[str, Any]) -> _Block:
        """The block of an event; one that was never started is made."""
        if data["block"] not in self._blocks:
            self._open(kind, data)
        return self._blocks[data["block"]]

    def _read_thinking(self, data: Mapping[str, Any]) -> None:
        block = self._read_block("thinking", data)
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

    def _end_item(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "finish":
            self.reason = self.reason or data["reason"]
        elif kind == "error":
            self.error = self.error or data
        elif kind == "done":
            self._is_done = True
        elif kind == "cut":
            self.cut = data["how"]
