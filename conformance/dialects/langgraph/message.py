"""One message of a model while its chunks arrive, and what it is when it is stated again.

Rule 1: chunks of a message add up. A message that is stated whole (`messages/partial`, the state of
        a graph) says what was not said yet: a text that goes on is said from there.
Rule 2: a call is known by its index. A chunk of it without an index is a whole call.
        Of a call that is only stated, the arguments count once the message is whole.
Rule 3: thinking ends where text or a call begins, and each part of it where another one does: a
        part that the message numbers begins explicitly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.blocks import Block, Blocks
from conformance.dialects.json_edge import arguments_text, mapping, objects, string, whole
from conformance.dialects.langgraph.content import CHUNK, Piece, joined, pieces_of, reason_of
from conformance.dialects.sink import Sink
from conformance.dialects.tool_call import ToolCall

_COUNTS: Final = {"input": "input_tokens", "output": "output_tokens", "total": "total_tokens"}
Call = dict[str, Any]


class StreamedMessage:
    """The texts of one message so far."""

    def __init__(self, sink: Sink, blocks: Blocks, first_call: int) -> None:
        self._sink = sink
        self._blocks = blocks
        self._first_call = first_call
        self._run: Block | None = None
        self._part: Any = None
        self._calls: dict[Any, ToolCall] = {}
        self._pieces: list[Piece] = []
        self._joined: dict[str, tuple[int, str]] = {}  # by kind, with how many pieces
        self._stated: list[Call] = []  # calls of the message as it was stated last
        self.usage: dict[str, int] = {}
        self._has_counted = False
        self.reason = ""
        self.namespace = ""
        self.tells_last = False  # its chunks have the key that marks the last one
        self.is_last = False
        self.is_stated = False
        self.stated_pieces: list[Piece] = []  # of the last state that has it

    @property
    def is_settled(self) -> bool:
        """Whether it is known to be whole: by its mark, or its reason, or as it was stated."""
        return self.is_last or self.is_stated or (bool(self.reason) and not self.tells_last)

    @property
    def says_something(self) -> bool:
        return bool(self._pieces or self._calls)

    @property
    def call_count(self) -> int:
        return len(self._calls)

    def text_of(self, kind: str) -> str:
        """Its text of a kind so far; joined anew only where more came."""
        count, text = self._joined.get(kind, (0, ""))
        if count != len(self._pieces):
            text = joined(self._pieces, kind)
            self._joined[kind] = len(self._pieces), text
        return text

    def sealed(self) -> list[str]:
        return [each.text for each in self._pieces if each.kind == "opaque"]

    @property
    def pieces(self) -> list[Piece]:
        """What it says: as a state says it, where one does."""
        return self.stated_pieces or self._pieces

    def calls(self) -> list[Call]:
        """Its calls; arguments that are no JSON as they came."""
        found = []
        for call in self._calls.values():
            try:
                arguments = json.loads(call.arguments or "{}")
            except (ValueError, RecursionError):
                arguments = call.arguments
            found.append({"id": call.call_id, "name": call.name, "args": arguments})
        return found

    def add(self, message: Mapping[str, Any]) -> None:
        for piece in pieces_of(message):
            self._add_piece(piece)
        chunks = objects(message.get("tool_call_chunks"))
        for number, chunk in enumerate(chunks or objects(message.get("tool_calls"))):
            self._add_call(chunk, number)
        self.tells_last = self.tells_last or "chunk_position" in message
        self._count(message, adds=True)
        if message.get("chunk_position") == "last":
            self.is_last = True
            self.close()

    def state(self, message: Mapping[str, Any], *, is_whole: bool = True) -> None:
        """The whole message, or all of it so far."""
        unsaid = list(self._pieces)
        for piece in _by_parts(pieces_of(message)):
            known = "".join(p.text for p in unsaid if _place(p) == _place(piece))
            if piece.text.startswith(known) or piece.kind == "opaque":
                text = piece.text if piece.kind == "opaque" else piece.text[len(known) :]
                if text and not (piece.kind == "opaque" and known == text):
                    self._add_piece(piece._replace(text=text))
        self._stated = objects(message.get("tool_calls"))
        self._count(message, adds=False)
        self.is_stated = self.is_stated or is_whole
        if is_whole:
            self.close()

    def close(self) -> None:
        """Ends what is open and says what it cost; calls that were only stated are said."""
        known = {call.call_id for call in self._calls.values()}
        for number, stated in enumerate(self._stated):
            if string(stated.get("id")) not in known:
                self._add_call({**stated, "index": ("stated", number)}, number)
        self._stated = []
        self._close_run()
        for call in self._calls.values():
            call.end(self._sink)
        if self.usage and not self._has_counted:
            self._has_counted = True
            self._sink.say_usage(self.usage)

    def _add_piece(self, piece: Piece) -> None:
        self._pieces.append(piece)
        if piece.kind == "opaque":
            self._blocks.opaque(None, piece.name, piece.text)
            return
        is_same = self._run is not None and self._run.channel == piece.channel
        if not is_same or (piece.kind == "thinking" and piece.part != self._part):
            self._close_run()
            channel, has_place = piece.channel, piece.part is not None
            self._run = (
                self._blocks.write()
                if channel is None
                else self._blocks.think(channel, explicit=has_place)
            )
        self._part = piece.part
        assert self._run is not None
        if piece.channel is None:
            self._blocks.text(self._run, piece.text)
        else:
            self._blocks.thought(self._run, piece.channel, piece.text)

    def _close_run(self) -> None:
        self._blocks.close(self._run)
        self._run = None

    def _add_call(self, chunk: Mapping[str, Any], number: int) -> None:
        index = chunk.get("index")
        key = index if index is not None else ("whole", len(self._calls), number)
        known = self._calls.get(_hashable(key))
        if known is None:
            self._close_run()
            at = self._first_call + len(self._calls)
            known = ToolCall(0, at, string(chunk.get("id")), string(chunk.get("name")))
            self._calls[_hashable(key)] = known
            if known.name or known.call_id:  # else its beginning was lost
                known.start(self._sink)
        if text := arguments_text(chunk.get("args")):
            known.add(self._sink, text)

    def _count(self, message: Mapping[str, Any], *, adds: bool) -> None:
        self.reason = reason_of(message) or self.reason
        counts = dict(usage_of(message))
        if counts and not adds:
            self.usage = counts
        elif adds:
            self.usage |= {k: self.usage.get(k, 0) + n for k, n in counts.items()}


def usage_of(message: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The counts of a message, in the words of all dialects."""
    usage = mapping(message.get("usage_metadata"))
    details = mapping(usage.get("output_token_details"))
    stated = {name: whole(usage.get(key)) for name, key in _COUNTS.items()}
    for name, count in {**stated, "reasoning": whole(details.get("reasoning"))}.items():
        if count is not None:
            yield name, count


def stated_calls(message: Mapping[str, Any]) -> list[Call] | None:
    """The calls that a whole message states; None where one of them is invalid."""
    if objects(message.get("invalid_tool_calls")):
        return None
    calls = objects(message.get("tool_calls"))
    return [{key: call.get(key) for key in ("id", "name", "args")} for call in calls]


def is_chunk(message: Mapping[str, Any]) -> bool:
    """Whether it is a piece: the server of LangGraph.js calls pieces `ai`, and the whole, too."""
    kind = message.get("type")
    return kind == CHUNK or (kind == "ai" and "tool_call_chunks" in message)


def _place(piece: Piece) -> tuple[Any, ...]:
    return piece.kind, piece.channel, _hashable(piece.part)


def _by_parts(pieces: list[Piece]) -> list[Piece]:
    """One piece for each part of the message."""
    found: dict[Any, Piece] = {}
    for piece in pieces:
        at = _place(piece)
        before = found[at].text if at in found else ""
        found[at] = piece._replace(text=before + piece.text)
    return list(found.values())


def _hashable(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, tuple, type(None))) else json.dumps(value)
