"""Turns of a conversation: what was thought, said, called and answered, in the order it came."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from .event import Event, Report

Role = Literal["system", "user", "assistant", "tool"]
_MADE_UP: Final = re.compile(r"call_\d+")


def made_up_id(index: int) -> str:
    """What stands for the id of a call whose API gave none."""
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
        """What may be shown: the raw thinking, else the summary."""
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
    def known_id(self) -> str:
        """The id that the API gave; empty where it gave none."""
        return "" if _MADE_UP.fullmatch(self.id) else self.id


Piece = Thought | Words | Called


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said. `call_id` is the call that a turn of role `tool` answers.

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


def events_of(turn: Turn) -> list[Event]:
    """The events of a turn that is known whole, its texts in one delta each."""
    report = Report()
    report.add("message.start", role=turn.role)
    blocks = iter(range(len(turn.pieces)))
    calls = iter(range(len(turn.pieces)))
    for piece in turn.pieces:
        if isinstance(piece, Thought):
            _thought(report, piece, blocks)
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


def _thought(report: Report, thought: Thought, blocks: Iterator[int]) -> None:
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
    """What is known of the entries of one API.

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
