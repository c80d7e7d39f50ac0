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
from conformance.editing.edits import double_piece, drop_piece
from conformance.editing.layout import Delta, StreamLayout, TextKind
from conformance.editing.operator import Edit, Mutation, OperatorTable, Sites
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


def _set(value: Any, *path: str) -> Edit:
    """A value of the event itself is another one."""

    def edited(stream: Stream, site: int) -> Stream:
        place = _place_of(stream.pieces[site].payload)
        return stream.with_value(site, (*place, *path), value)

    return edited


def _drop(*path: str) -> Edit:
    def edited(stream: Stream, site: int) -> Stream:
        return stream.without_value(site, (*_place_of(stream.pieces[site].payload), *path))

    return edited


def _is_terminal(thing: Fields) -> bool:
    return state_of(thing) in TERMINAL


def _is_appended(thing: Fields) -> bool:
    return thing.get("append") is True


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


def _not_first(sites: Sites) -> Sites:
    """All of these places but the first."""
    return lambda stream: sites(stream)[1:]


_UPDATES: Final = _sites(STATUS, ARTIFACT)
_STATES: Final = _sites(TASK, STATUS)

OPERATORS.add("X22-task-lost", "The task is not sent.")(_sites(TASK), drop_piece)
OPERATORS.add("X8-task-twice", "The task is sent again.")(
    _sites(TASK, where=lambda thing: not _is_terminal(thing)), double_piece
)
OPERATORS.add("X22-state-lost", "The last status is not sent.")(
    _sites(STATUS, where=_is_terminal), drop_piece
)
OPERATORS.add("N2-state-of-its-own", "A status has a state that is not known.")(
    _STATES, _set("thinking", "status", "state")
)
OPERATORS.add("I4-other-task", "An update is of another task.")(_UPDATES, _set("other", "taskId"))
OPERATORS.add("I4-other-context", "An update is of another context.")(
    _UPDATES, _set("other", "contextId")
)
OPERATORS.add("N10-no-task-id", "An update does not name its task.")(_UPDATES, _drop("taskId"))
OPERATORS.add("N10-no-artifact-id", "A chunk does not name its artifact.")(
    _sites(ARTIFACT), _drop("artifact", "artifactId")
)
OPERATORS.add("I4-other-artifact", "A chunk is appended to an artifact that was never sent.")(
    _sites(ARTIFACT, where=_is_appended), _set("other", "artifact", "artifactId")
)
OPERATORS.add("N14-part-content", "A part has its text under another key.")(
    _sites(ARTIFACT), _set([{"kind": "text", "content": "Hi."}], *_ARTIFACT_PARTS)
)
OPERATORS.add("N1-role-assistant", "A message has the role of another API.")(
    _sites(STATUS, where=lambda thing: value_at(thing, *_MESSAGE)),
    _set("assistant", *_MESSAGE, "role"),
)
OPERATORS.add("X8-message-twice", "A lone message is sent twice.")(_sites(MESSAGE), double_piece)
OPERATORS.add("X16-thoughts-unmarked", "An artifact says thoughts again, and does not mark them.")(
    _sites(ARTIFACT, where=_marks_thoughts), _unmarked
)
OPERATORS.add("E8-failure-untold", "A task that failed does not say why.")(
    _sites(STATUS, where=lambda thing: state_of(thing) == "failed"), _drop(*_MESSAGE)
)
OPERATORS.add("E10-final-early", "A status is final that is not the last.")(
    _not_first(_sites(STATUS, where=lambda thing: thing.get("final") is False)), _set(True, "final")
)
OPERATORS.add("E10-not-final", "The last status is not final.")(
    _sites(STATUS, where=lambda thing: thing.get("final") is True and _is_terminal(thing)),
    _set(False, "final"),
)

MUTATION: Final = Mutation(
    StreamLayout(
        deltas=_chunk_deltas,
        error=_error,
        refuses=frozenset({"empty delta", "ping"}),
        once=(("result", "lastChunk"), ("result", "artifactUpdate", "lastChunk")),
    ),
    tuple(OPERATORS),
)
