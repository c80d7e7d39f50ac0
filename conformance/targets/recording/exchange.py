"""One exchange while it is recorded: every chunk on disk as soon as it may be.

Rule 1: the clock is the recorder's own: a chunk came when its last byte came. Times are those of
`perf_counter`, which all processes of a machine share; None stands for now.
Rule 2: bodies are recorded decoded; `content-encoding` and `content-length` of such a body are
replaced by `x-decoded-from`, since they are not true of what is recorded. Its chunks are cut where
the encoded ones were.
Rule 3: nothing is recorded that redaction could not look into, or not in time. Where it could not,
the rest of the body is not recorded, the end is `open`, and its note says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import BodyRedactor, Redaction, Redactor
from conformance.core.chunked import ChunkPart
from conformance.core.content_coding import (
    ContentDecoder,
    UndecodableError,
    install_hint,
    readable_codings,
)
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Ending, Request, Response, Side, SocketMessage
from conformance.dialects import dialect_at
from conformance.recordings.redaction import EVERY_RULE, is_touching
from conformance.targets.recording.cassette_file import CassetteFile
from conformance.targets.recording.message_redaction import MessageRedactor
from conformance.targets.recording.time_limit import OverTimeError
from conformance.targets.recording.touching import rules_touched
from conformance.wire.heads import without_headers
from conformance.wire.socket_parts import SocketPart

_IDENTITY: Final = ("", "identity")
# A transfer chunk that is longer is recorded as several.
_LONGEST_CHUNK: Final = 16 * 1024 * 1024
_START: Final = 4096
# Redaction may take so many seconds of processor time, and one more for so many bytes.
_LEAST_S: Final = 0.1
_LEAST_SPEED: Final = 1_000_000
_MOST_JUDGING_S: Final = 3.0
_UNJUDGED: Final = "there was no time to judge which rules redaction touched: all are untestable"


def decoded_head(response: Response, encoding: str) -> Response:
    """The head of a body that was decoded (rule 2)."""
    plain = without_headers(response.headers, "content-encoding", "content-length")
    return replace(response, headers=(*plain, ("x-decoded-from", encoding)))


def _request_size(request: Request) -> int:
    """At least the bytes that redaction has to search."""
    head = sum(len(name) + len(value) for name, value in request.headers)
    body = len(msgspec.json.encode(request.json)) if request.json else len(request.raw or b"")
    return len(request.path) + head + body


class ExchangeOutcome(Struct, frozen=True):
    """How an exchange ended, for people. Its path is redacted."""

    method: str
    path: str
    status: int | None
    chunks: int
    size: int
    end: Ending
    note: str


class ExchangeRecorder:
    """Records one exchange into a cassette that is open.

    Where the body is longer than the cassette's options allow, its end is `when_full`. `response`
    is the head and `start` how the body began, not redacted, up to `remembers` bytes.
    """

    def __init__(
        self,
        file: CassetteFile,
        request: Request,
        *,
        after: int | None = None,
        when_full: Ending = "open",
        step: tuple[str, str] = ("", ""),
        came: float | None = None,
        remembers: int = _START,
    ) -> None:
        self.note = ""
        self.file = file
        self.request = request
        self.start = b""
        self._writer = file.writer
        self._redactor = redactor = file.redactor
        self._counted = set(redactor.counts()) if redactor else set[Redaction]()
        self._max_bytes = file.options.max_bytes
        self._when_full = when_full
        self._body: BodyRedactor | None = None
        self._messages = MessageRedactor(redactor, dialect_at(request.path, request.json))
        self._decoder: ContentDecoder | None = None
        self._pieces: list[bytes] = []
        self._joined = self._fed = self._written = 0
        self.response: Response | None = None
        self._is_given_up = self._is_touching = False
        self._end_ms, self._note_given = 0.0, ""
        self._chunks = self._size = 0
        self._ending: Ending | None = None
        self._last = perf_counter() if came is None else came
        self._remembers = remembers
        shown = request if redactor is None else self._redact_request(redactor)
        self._method, self._path = shown.method, shown.path
        self._is_request_changed = shown.json != request.json
        (scenario, role), dialect = step, dialect_at(request.path, request.json)
        self.number = self._writer.request(
            shown, after=after, dialect=dialect, scenario=scenario, role=role
        )
        file.running += 1

    @property
    def is_full(self) -> bool:
        """Whether nothing more will be recorded, whatever comes."""
        return self._ending is not None

    @property
    def held_bytes(self) -> int:
        """Bytes that are not written yet: an open chunk, and those that redaction holds back."""
        return self._joined + self._fed - self._written

    def record_head(self, response: Response, came: float | None = None) -> None:
        self.response = response
        encoding = (response.header("content-encoding") or "").strip().lower()
        recorded = response if encoding in _IDENTITY else self._head_of_encoded(response, encoding)
        if self._redactor is not None:
            recorded = self._redactor.response(recorded)
            self._body = BodyRedactor(self._redactor, response)
        self._writer.response(recorded, ms=self._elapsed_ms(came), exchange=self.number)

    def record_parts(
        self, pieces: Iterable[ChunkPart], came: float | None = None, *, flush: bool = True
    ) -> None:
        """Record the bytes of one read of the body; after a `flush` a crash loses none of them."""
        chunks = [chunk for piece in pieces if (chunk := self._take_part(piece, came))]
        self._write_chunks(chunks)
        if flush:
            self._writer.flush()

    def record_socket_part(
        self, side: Side, part: SocketPart, came: float | None = None, *, flush: bool = True
    ) -> None:
        """A message of a WebSocket came, or a close, of which the first one counts."""
        if self._ending is not None:
            return
        if part.kind == "close":
            self._messages.close_code = self._messages.close_code or part.code
            return
        self._size += len(part.data)
        if self._size > self._max_bytes:
            self._stop_full()
            return
        self._fed += len(part.data)
        self._messages.add(
            SocketMessage(part.data, self._elapsed_ms(came), side, part.kind == "binary")
        )
        self._write_messages()
        if flush:
            self._writer.flush()

    def record_end(self, how: Ending, note: str = "", came: float | None = None) -> ExchangeOutcome:
        """It is over: `record_rest` and `finish`. Nothing may follow, whatever is raised."""
        self.record_rest(how, note, came)
        return self.finish()

    def record_rest(self, how: Ending, note: str = "", came: float | None = None) -> bool:
        """It is over, and what was held back is on disk. Whether its end needs judging.

        Only `finish` may follow.
        """
        try:
            return self._write_rest(how, note, came)
        except BaseException:
            self.file.finish_exchange()
            raise

    def finish(self, *, judges: bool = True) -> ExchangeOutcome:
        """Writes the end. Unless it `judges`, every rule is named as touched that may be."""
        try:
            return self._write_end(judges=judges)
        finally:
            self.file.finish_exchange()

    @property
    def kept_bytes(self) -> int:
        """Bytes that are held until the rules that redaction touched are known."""
        return sum(len(data) for _, data in self._changed) if self._is_touching else 0

    @property
    def _changed(self) -> Sequence[tuple[int, bytes]]:
        """Return the bytes that redaction replaced, as they came, by their place in the body."""
        return self._messages.changed or (self._body.changed if self._body else ())

    def give_up(self, why: str) -> None:
        """Records no more of the body, not even what is held back."""
        self._is_given_up = True
        self._body, self._pieces = None, []
        self._messages.give_up()
        self._joined, self._fed = 0, self._written
        self._stop_recording("open", f"{why}: the rest was not recorded")

    def _redact_request(self, redactor: Redactor) -> Request:
        size = _request_size(self.request)
        try:
            with self.file.limit_time(_LEAST_S + size / _LEAST_SPEED):
                return redactor.request(self.request)
        except OverTimeError as over:
            raise CassetteError(f"a request cannot be recorded: {over}") from over

    def _take_part(self, piece: ChunkPart, came: float | None) -> Chunk | None:
        """The chunk that is whole now."""
        if self._ending is not None:
            return None
        if piece.whole and not self._pieces:
            return self._whole_chunk(piece.data, came)
        self._pieces.append(piece.data)
        self._joined += len(piece.data)
        is_whole = piece.whole or self._joined > _LONGEST_CHUNK
        return self._whole_chunk(b"".join(self._pieces), came) if is_whole else None

    def _whole_chunk(self, data: bytes, came: float | None) -> Chunk | None:
        self._pieces, self._joined = [], 0
        clear = self._decode_body(data)
        if len(self.start) < self._remembers:
            self.start += clear[: self._remembers]
        # Where the decoder keeps it all, it comes with the next chunk.
        return Chunk(clear, self._elapsed_ms(came)) if clear or not data else None

    def _write_rest(self, how: Ending, note: str, came: float | None) -> bool:
        if self._pieces and (chunk := self._whole_chunk(b"".join(self._pieces), came)):
            self._write_chunks([chunk])
        self._end_ms = self._elapsed_ms(came)
        self._write_chunks((), closes=True)
        self._write_messages(closes=True)
        self._ending = self._ending or how
        self._note_given = self.note or note
        counts = set(self._redactor.counts()) - self._counted if self._redactor else ()
        self._is_touching = is_touching(counts) and bool(
            self._changed or self._is_request_changed or self._is_given_up
        )
        if self._is_touching:
            self._writer.flush()
        return self._is_touching and not self._is_given_up

    def _write_end(self, *, judges: bool) -> ExchangeOutcome:
        assert self._ending is not None
        touched = self._touched_rules(self._ending, judges=judges)
        self._writer.end(
            self._ending,
            ms=self._end_ms,
            exchange=self.number,
            touched=touched,
            note=self.note,
            close_code=self._messages.close_code,
        )
        status = self.response.status if self.response else None
        return ExchangeOutcome(
            method=self._method,
            path=self._path,
            status=status,
            chunks=self._chunks,
            size=self._size,
            end=self._ending,
            note=self._note_given,
        )

    def _touched_rules(self, end: Ending, *, judges: bool) -> tuple[str, ...]:
        """Return the value of `Exchange.touched`."""
        if not self._is_touching:
            return ()
        with suppress(OverTimeError):
            if judges and not self._is_given_up:
                with self.file.limit_time(_MOST_JUDGING_S):
                    changed = self._changed
                    return rules_touched(self.file.path, self.number, end, self.request, changed)
        self._note_given = self._note_given or _UNJUDGED
        return EVERY_RULE

    def _write_chunks(self, chunks: Sequence[Chunk], *, closes: bool = False) -> None:
        """Writes what may be written after these; with `closes` all that was held back."""
        for chunk in self._redact_chunks(chunks, closes=closes):
            self._writer.chunk(chunk.data, ms=chunk.ms, exchange=self.number, flush=False)
            self._written += len(chunk.data)
            self._chunks += 1

    def _write_messages(self, *, closes: bool = False) -> None:
        """Writes the messages that may be written after the last one; all of them at the end."""
        try:
            with self.file.limit_time(_LEAST_S + self.held_bytes / _LEAST_SPEED):
                ready = self._messages.take(everything=closes)
        except OverTimeError as over:
            self.give_up(str(over))
            return
        for message in ready:
            self._writer.message(message, exchange=self.number, flush=False)
            self._written += len(message.data)
            self._chunks += 1

    def _redact_chunks(self, chunks: Sequence[Chunk], *, closes: bool) -> Sequence[Chunk]:
        self._fed += sum(len(chunk.data) for chunk in chunks)
        body = self._body
        if body is None:
            return chunks
        try:
            with self.file.limit_time(_LEAST_S + self.held_bytes / _LEAST_SPEED):
                return body.close() if closes else list(body.feed_all(chunks))
        except OverTimeError as over:
            # What a chunk that was broken off left behind is nothing to continue with.
            self.give_up(str(over))
            return ()

    def _decode_body(self, data: bytes) -> bytes:
        self._size += len(data)
        if self._decoder is None:
            if self._size <= self._max_bytes:
                return data
            self._stop_full()
            return b""
        try:
            clear = self._decoder.feed(data)
        except UndecodableError as err:
            self._stop_recording("protocol-error", str(err))
            return b""
        if self._decoder.is_full:
            self._stop_full()
        return clear

    def _head_of_encoded(self, response: Response, encoding: str) -> Response:
        """The head as recorded where the body is encoded."""
        if encoding not in readable_codings():
            if self._redactor is not None:
                missing = f" ({hint})" if (hint := install_hint(encoding)) else ""
                note = f"a body in {encoding!r} cannot be redacted: not recorded{missing}"
                self._stop_recording("open", note)
                return replace(
                    response, headers=without_headers(response.headers, "content-encoding")
                )
            self.note = f"the body is recorded as it came, in {encoding!r}"
            return response
        self._decoder = ContentDecoder(encoding, self._max_bytes)
        return decoded_head(response, encoding)

    def _stop_full(self) -> None:
        self._stop_recording(
            self._when_full, f"more than {self._max_bytes} bytes: the rest was not recorded"
        )

    def _stop_recording(self, end: Ending, note: str) -> None:
        self._ending, self.note = end, note

    def _elapsed_ms(self, came: float | None) -> float:
        now = perf_counter() if came is None else came
        ms, self._last = (now - self._last) * 1000, now
        return round(ms, 3)
