"""A turn as one JSON object that other programs can read, and back again.

The thought is serialised flat, as OpenHands does, thinking beside the text:

    {"role": "assistant", "args": {"thought": "4.", "reasoning_content": "2 plus 2 is 4."}}

Restored are the three forms in which `args` has been written:

    {"thought": "X"}
    {"thought": {"text": "X", "reasoning_content": "R"}}
    {"thought": "X", "reasoning_content": "R"}

What the flat form cannot say (several blocks, summary parts, ids, opaque data) is in `blocks`.
Turns as Opal and the OpenHands SDK persist them are restored, too; both write null where nothing
was thought, and neither keeps ids or sealed content of Responses here:

    {"role": "assistant", "content": "4.", "thinking": "2 plus 2 is 4.", "tool_calls": []}
    {"role": "assistant", "content": [{"type": "text", "text": "4."}],
     "reasoning_content": "2 plus 2 is 4.", "thinking_blocks": [], "tool_calls": []}

Conversations on disk: JSON lines, one turn each, thinking beside text and tool calls.

A line is written with one call and flushed to the disk. Where a crash tears the last line, the
next turn begins on a line of its own, and reading skips what is torn and says so.
The file is for its owner alone: it holds what people asked, and opaque data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from .likeness import Form
from .payload import decode, object_of, objects_of, text_of
from .turn import Called, Piece, Role, Thought, Turn, Words

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_TEXTS: Final = ("raw", "id", "signature", "encrypted", "redacted")


def record_of(turn: Turn, form: Form = "whole") -> dict[str, Any]:
    """The object of a turn; only the `whole` form says everything."""
    record = {"role": turn.role, **_FORMS[form](turn)}
    if turn.call_id:
        record["call_id"] = turn.call_id
    if turn.echo and form == "whole":
        record["echo"] = dict(turn.echo)
    if form == "whole" and turn_of(record) != turn:
        record["blocks"] = [_block_of_piece(piece) for piece in turn.pieces]
    return record


def _args_of_turn(turn: Turn) -> dict[str, Any]:
    args = {"thought": turn.text}
    if turn.thinking:
        args["reasoning_content"] = turn.thinking
    calls = {"tool_calls": [asdict(call) for call in turn.calls]} if turn.calls else {}
    return {"args": args, **calls}


def _with_thinking(turn: Turn) -> dict[str, Any]:
    """Thinking as one text beside the content, its parts run together as they were streamed."""
    return {"content": turn.text, "thinking": turn.streamed or None, **_written_calls(turn)}


def _as_message(turn: Turn) -> dict[str, Any]:
    """Content in blocks; thinking as one text, and signed or redacted thinking in blocks too."""
    sealed = [
        _sealed_block(thought) for thought in turn.thoughts if thought.signature or thought.redacted
    ]
    return {
        "content": [{"type": "text", "text": turn.text}] if turn.text else [],
        "reasoning_content": turn.thinking or None,
        "thinking_blocks": sealed,
        **_written_calls(turn),
    }


def _of_message(record: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield the pieces of a message in either form before its calls."""
    blocks = objects_of(record.get("thinking_blocks"))
    for block in blocks:
        yield Thought(
            raw=text_of(block.get("thinking")),
            signature=text_of(block.get("signature")),
            redacted=text_of(block.get("data")),
        )
    thought = text_of(record.get("thinking")) or text_of(record.get("reasoning_content"))
    if thought and not any(block.get("thinking") for block in blocks):
        yield Thought(raw=thought)
    content = record.get("content")
    text = text_of(content) or "".join(text_of(each.get("text")) for each in objects_of(content))
    if text:
        yield Words(text)


def _sealed_block(thought: Thought) -> dict[str, Any]:
    if thought.redacted:
        return {"type": "redacted_thinking", "data": thought.redacted}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _written_calls(turn: Turn) -> dict[str, Any]:
    return {"tool_calls": [asdict(call) for call in turn.calls]}


_FORMS: Final[Mapping[Form, Callable[[Turn], dict[str, Any]]]] = {
    "whole": _args_of_turn,
    "flat": _args_of_turn,
    "thinking": _with_thinking,
    "message": _as_message,
}


def turn_of(record: Mapping[str, Any]) -> Turn:
    """The turn of a stored object: one of these records, or `args` alone in any of its forms."""
    blocks = objects_of(record.get("blocks"))
    pieces = (_piece_of_block(block) for block in blocks) if blocks else _pieces_of_record(record)
    role = _ROLES.get(text_of(record.get("role")), "assistant")
    echo = object_of(record.get("echo"))
    return Turn(role, tuple(pieces), call_id=text_of(record.get("call_id")), echo=echo)


def _pieces_of_record(record: Mapping[str, Any]) -> Iterator[Piece]:
    yield from _of_message(record) if "content" in record else _pieces_of_args(record)
    for call in objects_of(record.get("tool_calls")):
        yield _call_of_record(call)


def _pieces_of_args(record: Mapping[str, Any]) -> Iterator[Piece]:
    args = object_of(record.get("args")) or record
    thought = args.get("thought")
    inner = object_of(thought)
    thinking = text_of(inner.get("reasoning_content")) or text_of(args.get("reasoning_content"))
    text = text_of(inner.get("text")) or text_of(inner.get("thought")) or text_of(thought)
    if thinking:
        yield Thought(raw=thinking)
    if text:
        yield Words(text)


def _block_of_piece(piece: Piece) -> dict[str, Any]:
    if isinstance(piece, Words):
        return {"type": "text", "text": piece.text}
    if isinstance(piece, Called):
        return {"type": "call", **asdict(piece)}
    fields = {**asdict(piece), "parts": list(piece.parts)}
    return {"type": "thinking", **{name: value for name, value in fields.items() if value}}


def _piece_of_block(block: Mapping[str, Any]) -> Piece:
    if block.get("type") == "text":
        return Words(text_of(block.get("text")))
    if block.get("type") == "call":
        return _call_of_record(block)
    parts = block.get("parts")
    texts = tuple(text_of(part) for part in parts) if isinstance(parts, list) else ()
    return Thought(parts=texts, **{name: text_of(block.get(name)) for name in _TEXTS})


def _call_of_record(call: Mapping[str, Any]) -> Called:
    return Called(*(text_of(call.get(name)) for name in ("id", "name", "arguments")))


MOST_BYTES: Final = 64 * 1024 * 1024


class StoreError(Exception):
    """A store cannot be read or written; the message starts with its path."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of a store; `torn` are the numbers, from 1, of lines that hold no turn."""

    turns: tuple[Turn, ...]
    torn: tuple[int, ...]


class Store:
    """One conversation in one file, made when the first turn is written, in any form."""

    def __init__(self, path: Path, form: Form = "whole") -> None:
        self._path = path
        self._form = form

    def read(self) -> Stored:
        """Everything that was written; nothing where there is no file yet. Raises StoreError."""
        try:
            if self._path.stat().st_size > MOST_BYTES:
                raise StoreError(f"{self._path}: longer than {MOST_BYTES} bytes")
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return Stored((), ())
        except OSError as err:
            raise StoreError(f"{self._path}: {err.strerror}") from err
        records = [decode(line.decode("utf-8", "replace")) if line else "" for line in lines]
        turns = tuple(turn_of(each) for each in records if isinstance(each, dict))
        torn = [
            at for at, each in enumerate(records, 1) if each != "" and not isinstance(each, dict)
        ]
        return Stored(turns, tuple(torn))

    def append(self, turns: Iterable[Turn]) -> None:
        """Write turns behind what is there. Raises StoreError."""
        lines = "".join(f"{json.dumps(record_of(turn, self._form))}\n" for turn in turns).encode()
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _write_all(file, lines if _is_whole(file) else b"\n" + lines)
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as err:
            raise StoreError(f"{self._path}: {err.strerror}") from err


def _is_whole(file: int) -> bool:
    """Whether the file ends with a line end."""
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
