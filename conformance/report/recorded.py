"""The recordings behind a report, opened when somebody looks, without what opens doors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from conformance.cassette import Recording, Redactor, open_recording
from conformance.core.errors import CassetteError, Place, UsageError
from conformance.core.events import Exchange
from conformance.judging.result import StreamResult
from conformance.report.redacted import Clean, text_cleaner

OpenRecording = Callable[[StreamResult], Recording]


def open_stream_recording(stream: StreamResult) -> Recording:
    """The recording in the file that the stream names. Raises UsageError, CassetteError."""
    if not stream.file:
        raise UsageError("the stream was not recorded in a file")
    try:
        return open_recording(stream.file, dialect=stream.dialect)
    except ValueError as error:  # no file can have such a name
        raise UsageError("no such file", place=Place(stream.file)) from error


@dataclass(slots=True)
class RecordedStreams:
    """Finds the exchange of a result; keeps the latest file only. `clean` takes out secrets."""

    opened: OpenRecording = open_stream_recording
    clean: Clean = field(default_factory=text_cleaner)
    _latest: tuple[str, Recording] | None = None

    def recording(self, stream: StreamResult) -> Recording:
        """Raises UsageError or CassetteError where it cannot be had."""
        if self._latest is None or self._latest[0] != stream.file or not stream.file:
            self._latest = (stream.file, self.opened(stream))
        return self._latest[1]

    def exchange(self, stream: StreamResult) -> Exchange:
        """The exchange that was judged. Raises UsageError or CassetteError."""
        for exchange in self.recording(stream).exchanges:
            if exchange.number == stream.exchange:
                return exchange
        place = Place(stream.file)
        raise UsageError(f"there is no exchange {stream.exchange} any more", place=place)


def with_redacted_heads(exchange: Exchange) -> Exchange:
    """The exchange with request and response head redacted; the body as it is.

    A head that cannot be redacted is left out.
    """
    redactor = Redactor(opaque=False)
    try:
        request = exchange.request and redactor.request(exchange.request)
    except CassetteError:
        request = None
    response = exchange.response
    headers = (
        redactor.response(replace(response, headers=_without_encoding(response.headers)))
        if response
        else None
    )
    return replace(exchange, request=request, response=headers)


def _without_encoding(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Without the encoding: redaction of a head must not refuse a body that it does not touch."""
    return tuple(each for each in headers if each[0].lower() != "content-encoding")
