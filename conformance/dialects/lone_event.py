"""One event of a stream that somebody keeps by itself, in a file of JSON: no answer to be judged.

Read as a whole answer it would lack nearly all that an answer has; read as a stream, its beginning
and its end. Neither was recorded.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Frame
from conformance.core.reading import Reading
from conformance.dialects import APPLICATIONS, SUPPORTED, recognise
from conformance.dialects.base import Dialect

_ALONE: Final = Frame("event", "message", "", "", 0)
_WHOLE: Final = Frame("body", "message", "", "", 0)
_UNKNOWN: Final = ".unknown"
_STREAMED: Final = ("sse", "binary")  # where an event is no line, which a body may be as well
_LINE: Final = Frame("line", "message", "", "", 0)
_SPEAKING: Final = (".delta", ".start", ".end")


def is_lone_event(value: Any, named: str | None = None) -> bool:
    """Whether a JSON value is one event of a stream, and no whole answer, error or list.

    Where a dialect is named, an event of that one.
    """
    dialect = SUPPORTED.get(recognise(_ALONE, value) or "")
    if dialect is None or named not in (None, dialect.name):
        return False
    if _is_of_lines(dialect):
        return "done" not in _first_semantics(dialect, value)
    if dialect.framing not in _STREAMED:
        return False
    if dialect.is_piece(value):
        return True
    streamed, whole = _first_type(dialect, _ALONE, value), _first_type(dialect, _WHOLE, value)
    if streamed.endswith(_UNKNOWN) or "error" in streamed:
        return False
    # Protocols of applications have no whole answers, and binary messages are no body: their
    # readers know an event anywhere.
    knows_anywhere = dialect.name in APPLICATIONS or dialect.framing == "binary"
    return whole.endswith(_UNKNOWN) or (knows_anywhere and whole == streamed)


def is_whole_answer(value: Any, named: str | None = None) -> bool:
    """Whether a JSON value is an answer in one piece, which says why it ended.

    Where streams of an API may be arrays, or are lines, their pieces look alike, and are none.
    """
    dialect = SUPPORTED.get(recognise(_WHOLE, value) or "")
    if dialect is None or named not in (None, dialect.name) or not isinstance(value, dict):
        return False
    if dialect.framing not in _STREAMED or dialect.framing_at or dialect.is_piece(value):
        return False
    events = dialect.reader(Reading()).read(_WHOLE, value, 1)
    is_known = not any(each.type.endswith(_UNKNOWN) for each in events)
    return is_known and any(each.type == "finish" for each in events)


def is_lone_line(value: Any, named: str | None = None) -> bool:
    """Whether the only line of a file speaks, with neither the beginning nor the end of a run.

    A line that begins a run may be all that was written.
    """
    dialect = SUPPORTED.get(recognise(_LINE, value) or "")
    if dialect is None or not _is_of_lines(dialect) or named not in (None, dialect.name):
        return False
    types = _first_semantics(dialect, value)
    return "done" not in types and any(each.endswith(_SPEAKING) for each in types)


def _is_of_lines(dialect: Dialect) -> bool:
    """Whether it is the protocol of an application that writes lines, of which none is an answer.

    Only the line that ends a run may be one.
    """
    return dialect.name in APPLICATIONS and dialect.framing == "lines"


def _first_semantics(dialect: Dialect, value: Any) -> list[str]:
    events = dialect.reader(Reading()).read(_LINE, value, 1)
    return [each.type for each in events if each.layer == "semantic"]


def _first_type(dialect: Dialect, frame: Frame, value: Any) -> str:
    events = dialect.reader(Reading()).read(frame, value, 1)
    return next((each.type for each in events if each.layer == "wire"), _UNKNOWN)
