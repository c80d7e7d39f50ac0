"""Why a stream that shows a dialect may still be of an unknown protocol.

A payload may have the name of another API's. So most payloads have to be of the dialect, and the
one that opens an answer has to hold what the dialect needs there (`Dialect.doubts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from conformance.core.events import STREAMED, Frame
from conformance.dialects import REFINED, SUPPORTED, recognise
from conformance.dialects.base import Dialect
from conformance.dialects.json_edge import string

_Payload = tuple[Frame, Mapping[str, Any]]

ENOUGH: Final = 8
"""Payloads that settle it if nothing speaks against them: most streams are read no further."""
FEWEST_UNKNOWN: Final = 4
"""Unknown payloads that a stream may always have: an API may add types."""
_OF_ANYBODY: Final = ("error", "jsonrpc")
_TYPES_OF_ANYBODY: Final = ("error", "ping", "keepalive", "heartbeat")


def doubt(first: Iterable[tuple[Frame, Any]], name: str) -> str | None:
    """Why a stream with these first payloads is not of the dialect that it shows, if so."""
    dialect = SUPPORTED.get(name)
    if dialect is None:
        return None
    payloads: list[_Payload] = []
    for frame, payload in first:
        if frame.kind == "text":
            payloads.append((frame, {"text": payload}))
            if len(payloads) == ENOUGH:
                break
        elif frame.kind in STREAMED and isinstance(payload, Mapping):
            payloads.append((frame, payload))
            if len(payloads) == ENOUGH and not _speaks_against(dialect, payloads):
                return None
    return _speaks_against(dialect, payloads)


def _speaks_against(dialect: Dialect, payloads: list[_Payload]) -> str | None:
    is_text = bool(payloads) and payloads[0][0].kind == "text"
    unknown = None if is_text else _unknown_ones(dialect, payloads)
    return unknown or dialect.doubts([each for _, each in payloads])


def _unknown_ones(dialect: Dialect, payloads: list[_Payload]) -> str | None:
    """An unknown type is a fault in a stream that begins as the dialect does.

    There only payloads of another dialect count, and those that share no key with a known one;
    but all do where the beginning is the only known payload.
    """
    family = _family(dialect)
    unknown = [each for each in payloads if not _is_known(family, each)]
    if len(unknown) < FEWEST_UNKNOWN:
        return None
    known = sum(_is_of(family, each) and not _is_of_anybody(each[1]) for each in payloads)
    if known > 1 and _is_known(family, payloads[0]):
        keys = {key for each in payloads if _is_known(family, each) for key in each[1]}
        unknown = [each for each in unknown if keys.isdisjoint(each[1]) or recognise(*each)]
    if len(unknown) < FEWEST_UNKNOWN or len(unknown) * 2 <= len(payloads):
        return None
    return f"{len(unknown)} of its first {len(payloads)} payloads are of something else"


def _is_known(family: Sequence[Dialect], each: _Payload) -> bool:
    return _is_of(family, each) or _is_of_anybody(each[1])


def _is_of(family: Sequence[Dialect], each: _Payload) -> bool:
    return any(_knows(dialect, *each) for dialect in family)


def _family(dialect: Dialect) -> list[Dialect]:
    """The dialect, and those that share payloads with it."""
    finer = REFINED.get(dialect.name)
    coarser = SUPPORTED.get(dialect.refines.dialect) if dialect.refines else None
    return [each for each in (dialect, finer, coarser) if each is not None]


def _knows(dialect: Dialect, frame: Frame, payload: Any) -> bool:
    if dialect.recognises(frame, payload):
        return True
    names = (string(payload.get("type")), string(payload.get("event")), frame.event)
    vocabulary = dialect.vocabulary
    return any(
        name and (name in vocabulary.wire or name.startswith(vocabulary.open)) for name in names
    )


def _is_of_anybody(payload: Mapping[str, Any]) -> bool:
    is_named = string(payload.get("type")) in _TYPES_OF_ANYBODY
    return not payload or is_named or any(key in payload for key in _OF_ANYBODY)
