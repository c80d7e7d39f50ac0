"""A turn as one JSON object that other programs can read, and back again.

The thought is serialised flat, as OpenHands does, thinking beside the text:

    {"role": "assistant", "args": {"thought": "4.", "reasoning_content": "2 plus 2 is 4."}}

Restored are the three forms in which `args` has been written:

    {"thought": "X"}
    {"thought": {"text": "X", "reasoning_content": "R"}}
    {"thought": "X", "reasoning_content": "R"}

What the flat form cannot say (several blocks, summary parts, ids, opaque data) is in `blocks`.
Messages as forms.py writes them are restored, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from . import forms
from .likeness import Form
from .payload import object_of, objects_of, text_of
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
        record["blocks"] = [_block(piece) for piece in turn.pieces]
    return record


def _args(turn: Turn) -> dict[str, Any]:
    args = {"thought": turn.text}
    if turn.thinking:
        args["reasoning_content"] = turn.thinking
    calls = {"tool_calls": [asdict(call) for call in turn.calls]} if turn.calls else {}
    return {"args": args, **calls}


_FORMS: Final[Mapping[Form, Callable[[Turn], dict[str, Any]]]] = {
    "whole": _args,
    "flat": _args,
    "thinking": forms.thinking,
    "message": forms.message,
}


def turn_of(record: Mapping[str, Any]) -> Turn:
    """The turn of a stored object: one of these records, or `args` alone in any of its forms."""
    blocks = objects_of(record.get("blocks"))
    pieces = (_piece(block) for block in blocks) if blocks else _flat(record)
    role = _ROLES.get(text_of(record.get("role")), "assistant")
    echo = object_of(record.get("echo"))
    return Turn(role, tuple(pieces), call_id=text_of(record.get("call_id")), echo=echo)


def _flat(record: Mapping[str, Any]) -> Iterator[Piece]:
    yield from forms.pieces(record) if "content" in record else _thought(record)
    for call in objects_of(record.get("tool_calls")):
        yield _called(call)


def _thought(record: Mapping[str, Any]) -> Iterator[Piece]:
    args = object_of(record.get("args")) or record
    thought = args.get("thought")
    inner = object_of(thought)
    thinking = text_of(inner.get("reasoning_content")) or text_of(args.get("reasoning_content"))
    text = text_of(inner.get("text")) or text_of(inner.get("thought")) or text_of(thought)
    if thinking:
        yield Thought(raw=thinking)
    if text:
        yield Words(text)


def _block(piece: Piece) -> dict[str, Any]:
    if isinstance(piece, Words):
        return {"type": "text", "text": piece.text}
    if isinstance(piece, Called):
        return {"type": "call", **asdict(piece)}
    fields = {**asdict(piece), "parts": list(piece.parts)}
    return {"type": "thinking", **{name: value for name, value in fields.items() if value}}


def _piece(block: Mapping[str, Any]) -> Piece:
    if block.get("type") == "text":
        return Words(text_of(block.get("text")))
    if block.get("type") == "call":
        return _called(block)
    parts = block.get("parts")
    texts = tuple(text_of(part) for part in parts) if isinstance(parts, list) else ()
    return Thought(parts=texts, **{name: text_of(block.get(name)) for name in _TEXTS})


def _called(call: Mapping[str, Any]) -> Called:
    return Called(*(text_of(call.get(name)) for name in ("id", "name", "arguments")))
