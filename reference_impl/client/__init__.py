"""A client that reads reasoning streams rightly: many APIs in, one kind of event out.

    reader = Reader("chat")
    for chunk in chunks:
        for event in reader.feed(chunk):
            ...
    for event in reader.close("eof"):
        ...

Bytes go through a reader of frames and one of an API, as `apis` names them; none of them does I/O.
`answer` collects events into a turn, `request` makes a request of turns, `transport` sends it.
`harness` offers all of it to a conformance run, `defects` breaks it on purpose.
"""

from __future__ import annotations

from .event import Event
from .reader import Reader, Reading

__all__ = ["Event", "Reader", "Reading"]
