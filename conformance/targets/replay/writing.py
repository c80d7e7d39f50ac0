"""Writes one script to one connection: one piece, one write, at its time.

Nothing here awaits. A write happens as soon as its time has come and the client's window is open;
after a burst of writes other connections get their turn. Times are kept against the start, so that
late timers do not add up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from conformance.core.chunked import LAST_CHUNK, chunk_bytes
from conformance.targets.replay.script import AnswerEnd, AnswerScript
from conformance.targets.replay.state import ReplayOutcome

BodyEnd = Literal["chunked", "length", "close", "none"]
# Milliseconds to wait before, bytes for the wire, how many of them are body.
_PlannedWrite = tuple[float, bytes, int]

_BURST: Final = 128
_SOON: Final = 0.0005  # seconds; timers are no finer
_NOTHING: Final = b""
_OUTCOMES: Final[Mapping[AnswerEnd, ReplayOutcome]] = {
    "whole": "complete",
    "fin": "cut",
    "rst": "cut",
}


def body_end(script: AnswerScript, *, head_only: bool, http11: bool) -> BodyEnd:
    """How the end of the body is reported.

    A recorded length stays where it holds, an HTTP/1.0 answer ends by closing, as recorded, unless
    its end must be distinguished from a break: then it is chunked, where the client can read that.
    """
    if head_only or not script.has_body:
        return "none"
    if not script.has_head:
        return "close"
    if script.length is not None:
        return "length"
    if not http11 or (script.http == "1.0" and script.end == "whole"):
        return "close"
    return "chunked"


class AnswerWriter:
    """Writes one answer, once.

    `note` learns the outcome just before the last byte is written, so whoever has read the whole
    answer finds it noted; never for a stall, which only its end makes one. `done` follows the last
    byte: it is the connection that goes on, closes or resets then. `sent` counts bytes of body.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        script: AnswerScript,
        *,
        note: Callable[[ReplayOutcome], None],
        done: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._note = note
        self._done = done
        self._is_paused = False
        self._due = 0.0
        self._last: int | None = None
        self._timer: asyncio.Handle | None = None
        self._planned_writes: Iterator[_PlannedWrite] = iter(())
        self.script = script
        self.sent = 0

    def start_writing(self, head: bytes, body_end: BodyEnd) -> None:
        """Begins; `head` goes out first, when its time has come."""
        script = self.script
        self._due = self._loop.time()
        if body_end == "none" or (body_end == "length" and script.end == "whole"):
            self._last = 0 if body_end == "none" else script.size
        self._planned_writes = _planned_writes(script, head, body_end)
        self._write_due()

    def pause_writing(self) -> None:
        """The client does not read; nothing more is written until `resume`."""
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        if self._timer is None:
            self._write_due()

    def stop_writing(self) -> None:
        """Writes nothing more, without a report."""
        self._is_paused = True
        if self._timer is not None:
            self._timer.cancel()

    def _write_due(self) -> None:
        """Writes what is due, and waits for the time of what is not."""
        self._timer = None
        for _ in range(_BURST):
            if self._is_paused or self._transport.is_closing():
                return
            step = next(self._planned_writes, None)
            if step is None:
                self._done()
                return
            ms, data, size = step
            if ms > 0:
                self._due += ms / 1000
                if self._due > self._loop.time() + _SOON:
                    self._timer = self._loop.call_at(self._due, self._write_timed, data, size)
                    return
            self._write_now(data, size)
        self._timer = self._loop.call_soon(self._write_due)

    def _write_timed(self, data: bytes, size: int) -> None:
        self._write_now(data, size)
        self._write_due()

    def _write_now(self, data: bytes, size: int) -> None:
        self.sent += size
        if data is LAST_CHUNK or data is _NOTHING or self.sent == self._last:
            self._last = None
            self._note(_OUTCOMES[self.script.end])
        if data:
            self._transport.write(data)


def _planned_writes(
    script: AnswerScript, head: bytes, body_end: BodyEnd
) -> Iterator[_PlannedWrite]:
    if script.has_head:
        yield script.head_ms, head, 0
    if body_end == "none":
        return
    kept = script.transfer_chunks if body_end == "chunked" else None
    yield from kept or (
        (ms, chunk_bytes(data) if body_end == "chunked" else data, len(data))
        for ms, data in script.timed_chunks()
    )
    if script.end == "whole" and body_end == "chunked":
        yield script.end_ms, LAST_CHUNK, 0
    elif script.end != "stall" and not (script.end == "whole" and body_end == "length"):
        yield script.end_ms, _NOTHING, 0
