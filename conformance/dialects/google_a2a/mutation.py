"""Mutation of `google.a2a`: where its events hold what, operators on tasks, states and chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.core.json_values import Path, list_at, text_at, value_at
from conformance.dialects.google_a2a.vocabulary import (
    ARTIFACT,
    MESSAGE,
    STATUS,
    TASK,
    TERMINAL,
    held,
    mark_of,
    part_kind,
    state_of,
)
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_ARTIFACT_PARTS: Final = ("artifact", "parts")
_MESSAGE: Final = ("status", "message")

Fields = Mapping[str, Any]


def _place_of(payload: Any) -> Path:
    """Where the event stands in a payload."""
    kind, thing, version = held(payload)
    outer: Path = ("result",) if "result" in payload else ()
    if version == "0.3" or not kind:
        return outer
    around = value_at(payload, *outer)
    return (*outer, next(key for key, each in around.items() if each is thing))


def _chunk_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    """Appended chunks are deltas, and so is what they are appended to."""
    kind, thing, version = held(piece.payload)
    if kind != ARTIFACT or len(list_at(thing, *_ARTIFACT_PARTS)) != 1:
        return  # what says several things says them as a whole
    for number, part in enumerate(list_at(thing, *_ARTIFACT_PARTS)):
        if part_kind(part, version) == "text" and (text := part["text"]):
            is_thought = mark_of(part, "thought") is True
            what: TextKind = "thinking" if is_thought else "text"
            path = (*_place_of(piece.payload), *_ARTIFACT_PARTS, number, "text")
            yield Delta(
                place, (path,), what, (what, text_at(thing, "artifact", "artifactId")), text
            )


def _error(message: str, _code: str) -> Fields:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": message}}


def _sites(*kinds: str, where: Callable[[Fields], object] = lambda _thing: True) -> Sites:
    """Events of these kinds for which something holds."""

    def sites(stream: Stream) -> list[int]:
        held_events = [(place, *held(piece.payload)) for place, piece in stream.events()]
        return [place for place, kind, thing, _ in held_events if kind in kinds and where(thing)]

    return sites


def _is_terminal(thing: Fields) -> bool:
    return state_of(thing) in TERMINAL


def _marks_thoughts(thing: Fields) -> bool:
    """Whether an artifact says thoughts again."""
    parts = list_at(thing, *_ARTIFACT_PARTS)
    return thing.get("lastChunk") is True and len(parts) > 1


def _unmarked(stream: Stream, site: int) -> Stream:
    """The parts of an artifact are not marked any more."""
    path = (*_place_of(stream.pieces[site].payload), *_ARTIFACT_PARTS)
    parts = [
        {k: v for k, v in part.items() if k != "metadata"} for part in stream.list_at(site, *path)
    ]
    return stream.with_value(site, path, parts)


_tasks, _messages, _artifacts = _sites(TASK), _sites(MESSAGE), _sites(ARTIFACT)
_updates, _states = _sites(STATUS, ARTIFACT), _sites(TASK, STATUS)
_open_tasks: Final = _sites(TASK, where=lambda thing: not _is_terminal(thing))
_ended: Final = _sites(STATUS, where=_is_terminal)
_appended: Final = _sites(ARTIFACT, where=lambda thing: thing.get("append") is True)
_speaking: Final = _sites(STATUS, where=lambda thing: value_at(thing, *_MESSAGE))
_failed: Final = _sites(STATUS, where=lambda thing: state_of(thing) == "failed")
_unfinal: Final = _sites(STATUS, where=lambda thing: thing.get("final") is False)
_final_ends: Final = _sites(
    STATUS, where=lambda thing: thing.get("final") is True and _is_terminal(thing)
)

OPERATORS.add("X16-thoughts-unmarked", "An artifact says thoughts again, and does not mark them.")(
    _sites(ARTIFACT, where=_marks_thoughts), _unmarked
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        error=_error,
        refuses=frozenset({"empty delta", "ping"}),
        once=(("result", "lastChunk"), ("result", "artifactUpdate", "lastChunk")),
    ),
    (*OPERATORS, *operator_rows(__file__, globals(), base=_place_of)),
)
