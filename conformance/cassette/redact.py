"""Takes secrets and opaque reasoning data out of what is about to be written.

Rule 1: header values outside an allow-list, and query values outside another, become `[redacted]`.
Rule 2: keys in known shapes, fields with telling names and opaque reasoning data (signatures,
encrypted content) become stand-ins of the same alphabet and length, wherever they stand: in a
request, a body, a client's report. So chunk boundaries, content lengths and rules about presence
and equality keep their meaning.
Rule 3: a body is taken as one text and cut again where it was cut, so a secret that arrived in two
chunks is found. A recorder redacts event by event instead (`BodyRedactor`).
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from conformance.cassette.credentials import credentials
from conformance.cassette.header import Cassette, Redaction
from conformance.cassette.opaque import secret_spans
from conformance.cassette.placeholders import Placeholders
from conformance.errors import CassetteError
from conformance.events import Chunk, Exchange, Request, Response

REDACTED: Final = "[redacted]"
ALLOWED_HEADERS: Final = frozenset(
    [
        "accept",
        "accept-encoding",
        "accept-ranges",
        "anthropic-beta",
        "anthropic-version",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "keep-alive",
        "last-event-id",
        "openai-beta",
        "openai-processing-ms",
        "openai-version",
        "pragma",
        "retry-after",
        "server",
        "transfer-encoding",
        "user-agent",
        "vary",
        "via",
        "x-accel-buffering",
        "x-content-type-options",
        "x-include-thinking",
    ]
)
ALLOWED_QUERY: Final = frozenset(
    [
        "after",
        "alt",
        "api-version",
        "before",
        "beta",
        "include",
        "include[]",
        "limit",
        "order",
        "starting_after",
        "stream",
    ]
)
_QUERY: Final = re.compile(r"([?&])([^=&#]*)=([^&#]*)")
_USERINFO: Final = re.compile(r"//[^/?#@]*@")
_BLANK_LINE: Final = re.compile(rb"\n\r?\n|\r\r")
_LONGEST_HOLD: Final = 16 * 1024 * 1024
_IDENTITY: Final = ("", "identity")


class Redactor:
    """Redacts under one key: equal secrets get equal stand-ins as long as it lives."""

    def __init__(
        self,
        *,
        headers: Collection[str] = ALLOWED_HEADERS,
        query: Collection[str] = ALLOWED_QUERY,
        opaque: bool = True,
    ) -> None:
        self._headers = frozenset(name.lower() for name in headers)
        self._query = frozenset(query)
        self._opaque = opaque
        self._placeholders = Placeholders()
        self._counts: Counter[str] = Counter()

    def counts(self) -> tuple[Redaction, ...]:
        """What was replaced so far, by rule name."""
        return tuple(Redaction(rule, count) for rule, count in sorted(self._counts.items()))

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without secrets. Raises CassetteError for a body that is compressed."""
        seen = exchange.seen
        return replace(
            exchange,
            request=exchange.request and self.request(exchange.request),
            response=exchange.response and self.response(exchange.response),
            chunks=self._chunks(exchange.chunks),
            seen=None if seen is None else tuple(self.value(list(seen))),
        )

    def request(self, request: Request) -> Request:
        """The request without secrets."""
        return replace(
            request,
            path=self.path(request.path),
            headers=self._fields(request.headers),
            json=self.value(request.json),
        )

    def response(self, response: Response) -> Response:
        """The head without secrets. Raises CassetteError where the body cannot be looked into."""
        encoding = (response.header("content-encoding") or "").strip().lower()
        if encoding not in _IDENTITY:
            message = f"a body with content-encoding {encoding!r} cannot be redacted"
            raise CassetteError(message, hint="ask for accept-encoding: identity")
        return replace(response, headers=self._fields(response.headers))

    def path(self, path: str) -> str:
        """A path with its query, or a URL."""
        path, found = _USERINFO.subn(f"//{REDACTED}@", path)
        self._counts.update({"userinfo": found} if found else {})
        return self._text(_QUERY.sub(self._parameter, path))

    def value(self, value: Any) -> Any:
        """A JSON value. Raises CassetteError if it is nested too deeply."""
        try:
            before = json.dumps(value)
            after = self.body(before.encode()).decode()
            return value if after == before else json.loads(after)
        except RecursionError as err:
            raise CassetteError("a JSON value is nested too deeply to be redacted") from err

    def body(self, body: bytes) -> bytes:
        """Bytes of a body, whole or event by event; as many as came in."""
        found = [s for s in secret_spans(body) if self._opaque or s.rule.startswith("field.")]
        text = self._replaced(body, [(s.start, s.stop, s.rule) for s in found])
        return self._replaced(text, sorted(credentials(text)))

    def _replaced(self, body: bytes, spans: Collection[tuple[int, int, str]]) -> bytes:
        pieces, at = [], 0
        for start, stop, rule in spans:
            secret = body[start:stop].decode("utf-8", "surrogateescape")
            stand_in = self._placeholders.spelled(secret)
            pieces += [body[at:start], stand_in.encode("utf-8", "surrogateescape")]
            self._counts[rule] += 1
            at = stop
        return b"".join((*pieces, body[at:])) if pieces else body

    def _chunks(self, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
        body = b"".join(chunk.data for chunk in chunks)
        clean = self.body(body)
        if clean == body:
            return chunks
        cut, at = [], 0
        for chunk in chunks:
            cut.append(Chunk(clean[at : at + len(chunk.data)], chunk.ms))
            at += len(chunk.data)
        return tuple(cut)

    def _fields(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((name, self._field(name, value)) for name, value in headers)

    def _field(self, name: str, value: str) -> str:
        if name.lower() in self._headers:
            return self._text(value)
        self._counts["header"] += value != REDACTED
        return REDACTED

    def _parameter(self, match: re.Match[str]) -> str:
        mark, name, value = match.groups()
        if name in self._query or value in ("", REDACTED):
            return match[0]
        self._counts["query"] += 1
        return f"{mark}{name}={REDACTED}"

    def _text(self, text: str) -> str:
        return self.body(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


class BodyRedactor:
    """Redacts a body while it arrives: holds bytes back until the event that they are part of ends.

    Chunks come out as they went in, later. A body without blank lines comes out at `close`, or
    when 16 MiB are held.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = bytearray()
        self._clean = bytearray()
        self._waiting: deque[tuple[int, float | None]] = deque()

    def feed(self, chunk: Chunk) -> list[Chunk]:
        """Chunks that are complete now."""
        self._waiting.append((len(chunk.data), chunk.ms))
        searched = max(0, len(self._held) - 2)
        self._held += chunk.data
        ends = [match.end() for match in _BLANK_LINE.finditer(self._held, searched)]
        full = len(self._held) > _LONGEST_HOLD
        self._redact(len(self._held) if full else max(ends, default=0))
        return self._complete()

    def close(self) -> list[Chunk]:
        """Everything that was held back."""
        self._redact(len(self._held))
        return self._complete()

    def _redact(self, stop: int) -> None:
        if stop:
            self._clean += self._redactor.body(bytes(self._held[:stop]))
            del self._held[:stop]

    def _complete(self) -> list[Chunk]:
        done, at = [], 0
        while self._waiting and at + self._waiting[0][0] <= len(self._clean):
            size, ms = self._waiting.popleft()
            done.append(Chunk(bytes(self._clean[at : at + size]), ms))
            at += size
        del self._clean[:at]
        return done


def redact(cassette: Cassette, redactor: Redactor | None = None) -> Cassette:
    """The cassette without secrets; its header counts what was replaced, now and before."""
    using = redactor or Redactor()
    header = cassette.header
    exchanges = tuple(using.exchange(exchange) for exchange in cassette.exchanges)
    clean = replace(
        header,
        recorder=using.value(header.recorder),
        target=using.value(header.target),
        model=using.value(header.model),
        extra=using.value(header.extra),
    )
    counted = _merged(chain(header.redactions, cassette.trailer, using.counts()))
    final = replace(clean, redactions=counted)
    return replace(cassette, header=final, exchanges=exchanges, trailer=())


def _merged(redactions: Iterable[Redaction]) -> tuple[Redaction, ...]:
    totals: Counter[str] = Counter()
    for redaction in redactions:
        totals[redaction.rule] += redaction.count
    return tuple(Redaction(rule, count) for rule, count in sorted(totals.items()))
