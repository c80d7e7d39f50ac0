"""Redaction of a body while it arrives, chunk by chunk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from conformance.cassette.redaction.deltas import Deltas
from conformance.cassette.redaction.message_deltas import MessageDeltas, last_message_end
from conformance.cassette.redaction.placeholders import blank_out
from conformance.core.events import Chunk, Response
from conformance.core.framing import Framing, FramingDecision

_EVENT_ENDS: Final = (b"\n\n", b"\n\r\n", b"\r\r")
_LINE_ENDS: Final = (b"\n",)
_LONGEST_HOLD: Final = 16 * 1024 * 1024
_AT_ONCE: Final = 1 << 13  # bytes of chunks that are searched together


class FrameRedactor(Protocol):
    """What redacts whole frames (`redact.Redactor`)."""

    def is_plain(self, frames: bytes) -> bool: ...

    def body(self, body: bytes) -> bytes: ...

    def ending(self, body: bytes) -> bytes: ...

    def deltas(self, framing: Framing | None = None) -> Deltas: ...


class BodyRedactor:
    """Redacts a body while it arrives. `changed` are the chunks it changed, as they came.

    Each with the place of its first byte in the body.

    Rule 1: bytes are held back until the frame that they are part of ends: an event at its blank
    line, a line of NDJSON at its end, a JSON body with the stream. So a secret in two chunks is
    found.
    Rule 2: a frame waits for the next ones while its text may end in the middle of a secret.
    Rule 3: chunks come out as they went in, later: as many, as long, with their times.
    Rule 4: at most `longest` bytes are held. Of a longer frame, letters and digits of the rest
    become `x` and `0`: it could be the rest of a secret.
    """

    def __init__(
        self,
        redactor: FrameRedactor,
        response: Response | None = None,
        *,
        longest: int = _LONGEST_HOLD,
    ) -> None:
        self._redactor = redactor
        self._decision = FramingDecision(response)
        self._deltas: Deltas | MessageDeltas = redactor.deltas()
        self._frame_ends: tuple[bytes, ...] = ()
        self._longest = longest
        self._framing: Framing | None = None
        if self._decision.framing:
            self._begin_framing(self._decision.framing)
        self._held = bytearray()
        self._clean = bytearray()
        self._flooded = False
        self._waiting: deque[tuple[int, float | None]] = deque()
        self._came = bytearray()  # the bytes of what waits, as they came
        self._given = 0
        self.changed: list[tuple[int, bytes]] = []

    def feed_all(self, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
        """As `feed`, of many; where several hold whole frames they are searched as one."""
        at = 0
        while at < len(chunks):
            busy = self._waiting or self._flooded or self._deltas.waits
            count = 0 if busy else self._count_whole(chunks, at)
            stop = at + (count or 1)
            together = b"".join([chunk.data for chunk in chunks[at:stop]])
            if count and self._redactor.is_plain(together):
                self._given += len(together)
                yield from chunks[at:stop]
            else:
                for chunk in chunks[at:stop]:
                    yield from self.feed(chunk)
            at = stop

    def _count_whole(self, chunks: Sequence[Chunk], at: int) -> int:
        """How many chunks, of at most `_AT_ONCE` bytes, end with a frame; 0 where none does."""
        whole = size = 0
        for number in range(at, len(chunks)):
            data = chunks[number].data
            size += len(data)
            if size > _AT_ONCE:
                break
            if self._frame_ends and data.endswith(self._frame_ends):
                whole = number - at + 1
        return whole

    def feed(self, chunk: Chunk) -> list[Chunk]:
        searched = max(0, len(self._held) - 2)
        if self._framing is None and (framing := self._decision.feed(chunk.data)):
            self._begin_framing(framing)
            searched = 0
        busy = self._waiting or self._flooded or self._deltas.waits
        whole = not busy and chunk.data.endswith(self._frame_ends)
        if whole and self._redactor.is_plain(chunk.data):
            self._given += len(chunk.data)
            return [chunk]
        self._waiting.append((len(chunk.data), chunk.ms))
        self._held += chunk.data
        self._came += chunk.data
        if self._flooded:
            self._leave_flood(searched)
            searched = 0
        self._redact_upto(self._last_end(searched))
        if len(self._held) > self._longest:
            if self._framing is None:
                self._begin_framing(self._decision.close())
            self._redact_upto(len(self._held))
            self._flooded = True
        return self._complete_chunks()

    def close(self) -> list[Chunk]:
        """Everything that was held back."""
        self._blank_upto(len(self._held)) if self._flooded else self._redact_upto(len(self._held))
        self._clean = bytearray(self._redactor.ending(bytes(self._clean + self._deltas.close())))
        return self._complete_chunks()

    def _begin_framing(self, framing: Framing) -> None:
        self._framing = framing
        if framing == "binary":
            self._deltas = MessageDeltas(self._redactor.deltas("lines"), self._redactor.body)
            return
        self._deltas = self._redactor.deltas(framing)
        self._frame_ends = _LINE_ENDS if framing == "lines" else _EVENT_ENDS

    def _last_end(self, searched: int) -> int:
        """The place after the last frame that is whole; 0 where there is none."""
        if self._framing == "binary":
            return last_message_end(bytes(self._held))
        ends = [(self._held.rfind(end, searched), len(end)) for end in self._frame_ends]
        return max((at + size for at, size in ends if at >= 0), default=0)

    def _leave_flood(self, searched: int) -> None:
        ends = [(self._held.find(end, searched), len(end)) for end in self._frame_ends]
        first = min((at + size for at, size in ends if at >= 0), default=0)
        self._blank_upto(first or len(self._held))
        self._flooded = not first

    def _redact_upto(self, stop: int) -> None:
        if stop:
            frames = bytes(self._held[:stop])
            plain = not self._deltas.waits and self._redactor.is_plain(frames)
            self._clean += frames if plain else self._deltas.feed(frames)
            del self._held[:stop]

    def _blank_upto(self, stop: int) -> None:
        self._clean += self._deltas.close()
        self._clean += blank_out(bytes(self._held[:stop]))
        del self._held[:stop]

    def _complete_chunks(self) -> list[Chunk]:
        done, at = [], 0
        while self._waiting and at + self._waiting[0][0] <= len(self._clean):
            size, ms = self._waiting.popleft()
            clean, came = bytes(self._clean[at : at + size]), self._came[at : at + size]
            if clean != came:
                self.changed.append((self._given + at, bytes(came)))
            done.append(Chunk(clean, ms))
            at += size
        del self._clean[:at], self._came[:at]
        self._given += at
        return done
