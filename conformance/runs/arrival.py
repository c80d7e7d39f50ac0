"""When content arrived in the streams of a run, in one line: how long their users wait.

Times count from the response head; of many streams the line gives the median, of gaps the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from msgspec import Struct

from conformance.core.events import STREAMED, Exchange
from conformance.core.reading import Reading
from conformance.dialects.base import Dialect


class Arrival(Struct):
    """Milliseconds of one stream: to the first thinking, to the first text, the largest gap."""

    thinking: float | None = None
    text: float | None = None
    gap: float = 0.0


def arrival_note(dialect: Dialect, reading: Reading, exchanges: Iterable[Exchange]) -> str:
    """A line about all streams that had a clock; empty if none had content."""
    found = [each for each in (arrival(dialect, reading, e) for e in exchanges) if each]
    thinking = [each.thinking for each in found if each.thinking is not None]
    text = [each.text for each in found if each.text is not None]
    if not (thinking or text):
        return ""
    parts = [*_first("thinking", thinking), *_first("text", text)]
    parts.append(f"largest gap {max(each.gap for each in found):.0f} ms")
    streams = f"{len(found)} stream{'' if len(found) == 1 else 's'}"
    return f"{dialect.name}: {', '.join(parts)} ({streams})"


def _first(what: str, times: list[float]) -> Iterator[str]:
    if times:
        yield f"first {what} after {median(times):.0f} ms"


def arrival(dialect: Dialect, reading: Reading, exchange: Exchange) -> Arrival | None:
    found, last = Arrival(), 0.0
    is_stream = False
    for _, ms, frame, events in dialect.trace(exchange, reading):
        if frame is None or ms is None or frame.kind not in STREAMED:
            continue
        is_stream = True
        found.gap, last = max(found.gap, ms - last), ms
        kinds = {event.type for event in events if event.data.get("text")}
        if found.thinking is None and "thinking.delta" in kinds:
            found.thinking = ms
        if found.text is None and "text.delta" in kinds:
            found.text = ms
    return found if is_stream else None
