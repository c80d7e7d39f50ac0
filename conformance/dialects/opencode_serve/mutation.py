"""Mutation of `opencode.serve`: where its events hold what, operators on parts and sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from conformance.core.json_values import text_at, value_at
from conformance.dialects.opencode_serve.session_turn import TEXTS
from conformance.dialects.opencode_serve.vocabulary import EVENTS
from conformance.editing.edits import places_of
from conformance.editing.layout import TextKind
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_PART: Final = ("properties", "part")
OPERATORS: Final = OperatorTable()


def _owners(pieces: Sequence[Piece]) -> Callable[[Piece], tuple[TextKind, Any]]:
    """What a delta adds to is the type of its part, which other events state."""
    parts = (value_at(each.payload, *_PART) for each in pieces if _is_of(each, "reasoning"))
    thoughts = {text_at(part, "id") for part in parts}

    def owner_of(piece: Piece) -> tuple[TextKind, Any]:
        fields = value_at(piece.payload, "properties")
        is_thought = text_at(fields, "partID") in thoughts
        return "thinking" if is_thought else "text", text_at(fields, "sessionID")

    return owner_of


def _is_of(piece: Piece, *types: str) -> bool:
    return text_at(piece.payload, *_PART, "type") in types


def _session_error(message: str, _code: str) -> dict[str, Any]:
    error = {"name": "UnknownError", "data": {"message": message}}
    return {"type": "session.error", "properties": {"sessionID": "ses_1", "error": error}}


def _parts(*types: str, is_ended: bool | None = None, status: str = "") -> Sites:
    """Statements of parts of these types; of texts those that have ended, or have not."""

    def sites(stream: Stream) -> list[int]:
        found = [n for n, piece in stream.events() if _is_of(piece, *types)]
        if status:
            return [n for n in found if stream.text_at(n, *_PART, "state", "status") == status]
        if is_ended is None:
            return found
        times = {n: stream.value_at(n, *_PART, "time") for n in found}
        # What the user said has no time.
        return [n for n, time in times.items() if time and ("end" in time) is is_ended]

    return sites


_begun, _ended = _parts(*TEXTS, is_ended=False), _parts(*TEXTS, is_ended=True)
_completed_calls, _step_ends = _parts("tool", status="completed"), _parts("step-finish")
_DELTAS: Final = places_of("message.part.delta")
_IDLE: Final = places_of("session.idle")


@OPERATORS.edit("X4-delta-first", _begun)
def _overtake(stream: Stream, site: int) -> Stream | None:
    """The first delta of a part overtakes its start."""
    part_id = stream.text_at(site, *_PART, "id")
    mine = [n for n in _DELTAS(stream) if stream.text_at(n, "properties", "partID") == part_id]
    return stream.move(mine[0], site) if mine else None


@OPERATORS.edit("E1-said-when-idle", _IDLE)
def _speak_late(stream: Stream, site: int) -> Stream | None:
    """The last delta of a session comes when it is idle."""
    session = stream.text_at(site, "properties", "sessionID")
    earlier = [n for n in _DELTAS(stream) if n < site]
    mine = [n for n in earlier if stream.text_at(n, "properties", "sessionID") == session]
    return stream.move(mine[-1], site + 1) if mine else None


MUTATION: Final = Mutation(
    EVENTS.layout(
        owners=_owners,
        error=_session_error,
        error_ends=False,
        text_keys=("properties.partID",),
        unknown_event="vendor.note",
        reasoning_tokens=(("properties", "part", "tokens", "reasoning"),),
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
