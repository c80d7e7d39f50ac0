"""Takes secrets and opaque reasoning data out of what is about to be written.

Rule 1: header values outside an allow-list, and query values outside another, become `[redacted]`.
Rule 2: keys in known shapes, fields with telling names and opaque reasoning data (signatures,
encrypted content) become stand-ins of the same alphabet and length, wherever they stand: in a
request, a body, a client's report. So chunk boundaries, content lengths and rules about presence
and equality keep their meaning.
Rule 3: a body is taken as one text and cut again where it was cut, so a secret that arrived in two
chunks is found: a body is always redacted as a recorder does it while it comes (`BodyRedactor`).
Rule 4: what a header carried as a credential is a secret in every body, whatever its shape.
Rule 5: redacting twice changes nothing, since stand-ins are known again.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette.credentials import Span, cut_short, find_credentials
from conformance.cassette.deltas import Deltas, is_plain, is_suspect
from conformance.cassette.header import Cassette, Redaction
from conformance.cassette.opaque import secret_spans
from conformance.cassette.placeholders import Placeholders, blank_out, is_stand_in
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.framing import Framing, FramingDecision

REDACTED: Final = "[redacted]"
ALLOWED_HEADERS: Final = frozenset(
    {
        *("accept", "accept-encoding", "accept-ranges", "anthropic-beta", "anthropic-version"),
        *("cache-control", "connection", "content-encoding", "content-length", "content-type"),
        *("date", "keep-alive", "last-event-id", "openai-beta", "openai-processing-ms"),
        *("openai-version", "pragma", "retry-after", "server", "transfer-encoding"),
        *("user-agent", "vary", "via", "x-accel-buffering", "x-decoded-from"),
        *("x-content-type-options", "x-include-thinking"),
    }
)
ALLOWED_QUERY: Final = frozenset(
    {
        *("after", "alt", "api-version", "before", "beta", "include", "include[]", "limit"),
        *("order", "starting_after", "stream"),
    }
)
_QUERY: Final = re.compile(r"([?&])([^=&#]*)=([^&#]*)")
_USERINFO: Final = re.compile(r"//[^/?#@]*@")
# Headers that carry a credential; what they hold is looked for in the bodies, too.
CREDENTIAL_HEADERS: Final = frozenset(
    {
        *("api-key", "authorization", "cookie", "openai-organization", "openai-project"),
        *("proxy-authorization", "set-cookie", "x-amz-security-token", "x-api-key"),
        *("x-auth-token", "x-goog-api-key"),
    }
)
_CREDENTIAL: Final = re.compile(r"[^\s;=,\"]{8,}={0,2}")
_SHORTEST: Final = 8
_MOST_KNOWN: Final = 32
_IDENTITY: Final = ("", "identity")
_EVENT_ENDS: Final = (b"\n\n", b"\n\r\n", b"\r\r")
_LINE_ENDS: Final = (b"\n",)
_LONGEST_HOLD: Final = 16 * 1024 * 1024
_AT_ONCE: Final = 1 << 13  # bytes of chunks that are looked through together


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
        self._known: dict[bytes, None] = {}

    def counts(self) -> tuple[Redaction, ...]:
        """What was replaced so far, by rule name."""
        return tuple(starmap(Redaction, sorted((+self._counts).items())))

    def learn(self, secret: str) -> None:
        """Something to be replaced wherever it stands. Below 8 characters it is left alone."""
        if len(secret) >= _SHORTEST:
            spelled = json.dumps(secret, ensure_ascii=False)[1:-1]
            self._know_secret(spelled.encode("utf-8", "surrogatepass"))

    def text(self, text: str) -> str:
        """Any text: a message, a line of a log, a report. As many bytes as came in."""
        return self.body(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without secrets. Raises CassetteError for a body that is compressed."""
        seen = exchange.seen
        return replace(
            exchange,
            request=exchange.request and self.request(exchange.request),
            response=exchange.response and self.response(exchange.response),
            chunks=self._redact_chunks(exchange),
            seen=None if seen is None else tuple(self.value(list(seen))),
            user_choices=None
            if exchange.user_choices is None
            else self.value(dict(exchange.user_choices)),
        )

    def request(self, request: Request) -> Request:
        """The request without secrets."""
        self._learn_credentials(request.headers)
        return replace(
            request,
            path=self.path(request.path),
            headers=self._redact_headers(request.headers),
            json=self.value(request.json),
        )

    def response(self, response: Response) -> Response:
        """The head without secrets. Raises CassetteError where the body cannot be looked into."""
        self._learn_credentials(response.headers)
        encoding = (response.header("content-encoding") or "").strip().lower()
        if encoding not in _IDENTITY:
            message = f"a body with content-encoding {encoding!r} cannot be redacted"
            raise CassetteError(message, hint="ask for accept-encoding: identity")
        return replace(response, headers=self._redact_headers(response.headers))

    def path(self, path: str) -> str:
        """A path with its query, or a URL."""
        path, found = _USERINFO.subn(f"//{REDACTED}@", path)
        self._counts.update({"userinfo": found} if found else {})
        return self._redact_text(_QUERY.sub(self._redact_parameter, path))

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
        if not is_suspect(body):
            return self._without_known(body) if self._known else body
        spans = secret_spans(body)
        found = [s for s in spans if self._opaque or not s.rule.startswith("opaque.")]
        self._know_opaque(body, found)
        text = self._replace_spans(body, found)
        text = self._replace_spans(text, sorted(find_credentials(text)))
        return self._without_known(text) if self._known else text

    def is_plain(self, frames: bytes) -> bool:
        """Whether whole frames can stay as they are, as nearly all can; False says nothing."""
        return is_plain(frames) and not any(secret in frames for secret in self._known)

    def ending(self, body: bytes) -> bytes:
        """The last bytes of a body, clean before: half a key is a secret, too."""
        cut = cut_short(body)
        return self._replace_spans(body, [cut]) if cut else body

    def deltas(self, framing: Framing | None = None) -> Deltas:
        """Redacts the frames of one body, and the secrets that they spell out together."""
        return Deltas(self._spell_placeholder, self.body, self._count_rule, framing)

    def _spell_placeholder(self, secret: bytes) -> bytes:
        raw = secret.decode("utf-8", "surrogateescape")
        return self._placeholders.spelled(raw).encode("utf-8", "surrogateescape")

    def _count_rule(self, rule: str) -> None:
        self._counts[rule] += 1

    def _know_secret(self, spelled: bytes) -> None:
        """The latest ones are kept."""
        self._known[spelled] = None
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def _know_opaque(self, body: bytes, spans: Iterable[Span]) -> None:
        """Where opaque data leaks into a text, it must leak in the redacted stream, too."""
        for span in spans:
            secret = body[span.start : span.stop]
            if span.rule.startswith("opaque.") and len(secret) >= _SHORTEST:
                self._know_secret(secret)

    def _without_known(self, body: bytes) -> bytes:
        for secret in self._known:
            if secret in body and not is_stand_in(secret.decode("utf-8", "surrogateescape")):
                places = (
                    Span(*match.span(), "known") for match in re.finditer(re.escape(secret), body)
                )
                body = self._replace_spans(body, places)
        return body

    def _replace_spans(self, body: bytes, spans: Iterable[Span]) -> bytes:
        pieces, at = [], 0
        for start, stop, rule in spans:
            secret = body[start:stop]
            stand_in = self._spell_placeholder(secret)
            pieces += [body[at:start], stand_in]
            self._counts[rule] += stand_in != secret
            at = stop
        return b"".join((*pieces, body[at:])) if pieces else body

    def _learn_credentials(self, headers: Iterable[tuple[str, str]]) -> None:
        for name, value in headers:
            if name.lower() in CREDENTIAL_HEADERS and value != REDACTED:
                for secret in _CREDENTIAL.findall(value):
                    self.learn(secret)

    def _redact_chunks(self, exchange: Exchange) -> tuple[Chunk, ...]:
        body = exchange.body
        if self._opaque and is_suspect(body):
            self._know_opaque(body, secret_spans(body))
        streaming = BodyRedactor(self, exchange.response, longest=len(body))
        return (*streaming.feed_all(exchange.chunks), *streaming.close())

    def _redact_headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((name, self._redact_header(name, value)) for name, value in headers)

    def _redact_header(self, name: str, value: str) -> str:
        if name.lower() in self._headers:
            return self._redact_text(value)
        self._counts["header"] += value != REDACTED
        return REDACTED

    def _redact_parameter(self, match: re.Match[str]) -> str:
        mark, name, value = match.groups()
        if name in self._query or value in ("", REDACTED):
            return match[0]
        self._counts["query"] += 1
        return f"{mark}{name}={REDACTED}"

    def _redact_text(self, text: str) -> str:
        return self.body(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


class BodyRedactor:
    """Redacts a body while it arrives.

    Rule 1: bytes are held back until the frame that they are part of ends: an event at its blank
    line, a line of NDJSON at its end, a JSON body with the stream. So a secret in two chunks is
    found.
    Rule 2: a frame waits for the next ones while its text may end in the midst of a secret.
    Rule 3: chunks come out as they went in, later: as many, as long, with their times.
    Rule 4: at most `longest` bytes are held. Of a longer frame, letters and digits of the rest
    become `x` and `0`: it could be the rest of a secret.
    """

    def __init__(
        self,
        redactor: Redactor,
        response: Response | None = None,
        *,
        longest: int = _LONGEST_HOLD,
    ) -> None:
        self._redactor = redactor
        self._decision = FramingDecision(response)
        self._deltas = redactor.deltas()
        self._frame_ends: tuple[bytes, ...] = ()
        self._longest = longest
        if self._decision.framing:
            self._begin_framing(self._decision.framing)
        self._held = bytearray()
        self._clean = bytearray()
        self._flooded = False
        self._waiting: deque[tuple[int, float | None]] = deque()

    def feed_all(self, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
        """As `feed`, of many; where several hold whole frames they are looked through as one."""
        at = 0
        while at < len(chunks):
            count = 0 if self._waiting or self._flooded else self._count_whole(chunks, at)
            stop = at + (count or 1)
            together = b"".join([chunk.data for chunk in chunks[at:stop]])
            if count and self._redactor.is_plain(together):
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
        """Chunks that are complete now."""
        searched = max(0, len(self._held) - 2)
        if not self._frame_ends and (framing := self._decision.feed(chunk.data)):
            self._begin_framing(framing)
            searched = 0
        whole = not (self._waiting or self._flooded) and chunk.data.endswith(self._frame_ends)
        if whole and self._redactor.is_plain(chunk.data):
            return [chunk]
        self._waiting.append((len(chunk.data), chunk.ms))
        self._held += chunk.data
        if self._flooded:
            self._leave_flood(searched)
            searched = 0
        self._redact_upto(self._last_end(searched))
        if len(self._held) > self._longest:
            if not self._frame_ends:
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
        self._deltas = self._redactor.deltas(framing)
        self._frame_ends = _LINE_ENDS if framing == "lines" else _EVENT_ENDS

    def _last_end(self, searched: int) -> int:
        """The place after the last frame that is whole; 0 where there is none."""
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
    totals: Counter[str] = Counter()
    for redaction in (*header.redactions, *cassette.trailer, *using.counts()):
        totals[redaction.rule] += redaction.count
    final = replace(clean, redactions=tuple(starmap(Redaction, sorted(totals.items()))))
    return replace(cassette, header=final, exchanges=exchanges, trailer=())
