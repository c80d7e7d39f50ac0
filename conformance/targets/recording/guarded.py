"""A recorder whose failures do not reach its caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from conformance.core.chunked import ChunkedBodyReader, PlainBodyReader
from conformance.core.errors import CassetteError
from conformance.core.events import Ending, Response, Side
from conformance.targets.recording.exchange import ExchangeRecorder
from conformance.targets.recording.folder import RecordingFolder
from conformance.wire.requests import HttpRequest, as_recorded
from conformance.wire.socket_parts import SocketPart

OnFailure = Callable[[BaseException], None]


class ExchangeLog(Protocol):
    """Hears of one exchange, in this order; times are those of `perf_counter`. Never raises.

    `record_body` takes what one read gave of the body: in chunked coding, without its last chunk,
    where `record_head` said so. `record_part` takes messages and closes of a WebSocket instead. A
    second end says nothing.
    """

    def record_request(self, request: HttpRequest, target: str, came: float) -> None: ...
    def record_head(self, response: Response, came: float, *, chunked: bool) -> None: ...
    def record_body(self, data: bytes, came: float) -> None: ...
    def record_part(self, side: Side, part: SocketPart, came: float) -> None: ...
    def record_end(self, how: Ending, came: float, note: str = "") -> None: ...


class JoinedLogs:
    """Reports an exchange to several recorders, or to none."""

    def __init__(self, *logs: ExchangeLog) -> None:
        self._logs = logs

    def record_request(self, request: HttpRequest, target: str, came: float) -> None:
        for log in self._logs:
            log.record_request(request, target, came)

    def record_head(self, response: Response, came: float, *, chunked: bool) -> None:
        for log in self._logs:
            log.record_head(response, came, chunked=chunked)

    def record_body(self, data: bytes, came: float) -> None:
        for log in self._logs:
            log.record_body(data, came)

    def record_part(self, side: Side, part: SocketPart, came: float) -> None:
        for log in self._logs:
            log.record_part(side, part, came)

    def record_end(self, how: Ending, came: float, note: str = "") -> None:
        for log in self._logs:
            log.record_end(how, came, note)


class GuardedRecorder:
    """Writes at once; where that fails, it is reported once and the rest given up.

    Without `flushes` it is the caller's to `flush`.
    """

    def __init__(self, folder: RecordingFolder, fail: OnFailure, *, flushes: bool = True) -> None:
        self._folder = folder
        self._fail = fail
        self._flushes = flushes
        self._recorder: ExchangeRecorder | None = None
        self._body: ChunkedBodyReader | PlainBodyReader = PlainBodyReader(None)

    @property
    def held_bytes(self) -> int:
        """Bytes that came and are not written yet."""
        return self._recorder.held_bytes if self._recorder else 0

    def record_request(self, request: HttpRequest, target: str, came: float) -> None:
        recorded = as_recorded(request, target)
        with self._guarded_recording():
            self._recorder = self._folder.begin_exchange(recorded, came)

    def record_head(self, response: Response, came: float, *, chunked: bool) -> None:
        if chunked:
            self._body = ChunkedBodyReader()
        if self._recorder is not None:
            with self._guarded_recording():
                self._recorder.record_head(response, came)

    def record_body(self, data: bytes, came: float) -> None:
        if self._recorder is not None:
            with self._guarded_recording():
                self._recorder.record_parts(self._body.feed(data), came, flush=self._flushes)

    def record_part(self, side: Side, part: SocketPart, came: float) -> None:
        if self._recorder is not None:
            with self._guarded_recording():
                self._recorder.record_socket_part(side, part, came, flush=self._flushes)

    def record_end(self, how: Ending, came: float, note: str = "") -> None:
        self.record_rest(how, came, note)
        self.finish()

    def record_rest(self, how: Ending, came: float, note: str = "") -> bool:
        """It is over, and all that came is written. Whether `finish` has something to judge."""
        if self._recorder is not None:
            with self._guarded_recording():
                return self._folder.record_rest(self._recorder, how, note, came)
        return False

    def finish(self, *, judges: bool = True) -> None:
        """Writes the end."""
        if self._recorder is not None:
            with self._guarded_recording():
                self._folder.finish_exchange(self._recorder, judges=judges)
        self._recorder = None

    @property
    def kept_bytes(self) -> int:
        """Bytes that are held until the end is judged."""
        return self._recorder.kept_bytes if self._recorder else 0

    def flush(self) -> None:
        """Write all bytes so far to disk: a crash loses none of them."""
        if self._recorder is not None:
            with self._guarded_recording():
                self._recorder.file.writer.flush()

    def give_up(self, why: str) -> None:
        """Nothing more is recorded, and the recording says why."""
        if self._recorder is not None:
            self._recorder.give_up(why)

    @contextmanager
    def _guarded_recording(self) -> Iterator[None]:
        try:
            yield
        except (CassetteError, OSError) as err:
            self._recorder = None
            self._fail(err)
