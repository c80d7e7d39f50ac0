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


def is_lone_event(value: Any, named: str | None = None) -> bool:
    """Whether a JSON value is one event of a stream, and no whole answer, error or list.

    Where a dialect is named, an event of that one.
    """
    dialect = SUPPORTED.get(recognise(_ALONE, value) or "")
    if dialect is None or dialect.framing not in _STREAMED or named not in (None, dialect.name):
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


def _first_type(dialect: Dialect, frame: Frame, value: Any) -> str:
    events = dialect.reader(Reading()).read(frame, value, 1)
    return next((each.type for each in events if each.layer == "wire"), _UNKNOWN)
