"""Chat Completions chunks as edits need them: who finishes, who has the role, who counts."""

from __future__ import annotations

from typing import Any

from conformance.core.json_values import cut_at, value_at
from conformance.mutate.stream import Piece, Stream

CHOICE = ("choices", 0)
DELTA = (*CHOICE, "delta")


def chunks(stream: Stream) -> list[int]:
    """Places of chunks."""
    return [
        n
        for n, piece in stream.events()
        if piece.kind == "event" and isinstance(value_at(piece.payload, "choices"), list)
    ]


def with_choice(stream: Stream) -> list[int]:
    """Places of chunks that have a choice with a delta."""
    return [n for n in chunks(stream) if isinstance(stream.value_at(n, *DELTA), dict)]


def finishes(stream: Stream) -> list[int]:
    """Places of chunks with a finish reason."""
    return [n for n in chunks(stream) if stream.value_at(n, *CHOICE, "finish_reason")]


def usages(stream: Stream) -> list[int]:
    """Places of chunks that count tokens."""
    return [n for n in chunks(stream) if isinstance(stream.value_at(n, "usage"), dict)]


def tools(stream: Stream) -> list[int]:
    """Places of chunks with a fragment of a tool call."""
    return [n for n in chunks(stream) if stream.list_at(n, *DELTA, "tool_calls")]


def plain(stream: Stream) -> list[int]:
    """Places of chunks that say something and neither finish nor count."""
    ends = {*finishes(stream), *usages(stream)}
    return [n for n in with_choice(stream) if n not in ends]


def repeats_role(stream: Stream) -> bool:
    """Whether more than one chunk of a choice carries the role."""
    choices = [stream.value_at(n, *CHOICE) for n in with_choice(stream)]
    indices = [value_at(choice, "index") for choice in choices if value_at(choice, "delta", "role")]
    return len(set(indices)) < len(indices)


def said(stream: Stream, place: int, delta: dict[str, Any], **more: Any) -> Piece:
    """A chunk as the one at `place` is written, with another delta and nothing else."""
    sample = stream.pieces[place]
    role = value_at(sample.payload, *DELTA, "role")
    held = {"role": role} if role and repeats_role(stream) else {}
    choice = {**value_at(sample.payload, *CHOICE), "delta": {**held, **delta}}
    if "finish_reason" in choice:
        choice["finish_reason"] = None
    return sample.saying({**cut_at(sample.payload, ("usage",)), "choices": [{**choice, **more}]})


def without_choices(stream: Stream, place: int, **more: Any) -> Piece:
    """A chunk as the one at `place` is written, with no choice."""
    sample = stream.pieces[place]
    return sample.saying({**cut_at(sample.payload, ("usage",)), "choices": [], **more})
