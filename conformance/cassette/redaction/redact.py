"""Takes secrets and opaque reasoning data out of what is about to be written.

Rule 1: header values outside an allow-list, and query values outside another, become `[redacted]`.
Rule 2: keys in known shapes, fields with telling names and opaque reasoning data (signatures,
encrypted content) become stand-ins of the same alphabet and length, wherever they are: in a
request, a body, a client's report. So chunk boundaries, content lengths and rules about presence
and equality keep their meaning.
Rule 3: a body is taken as one text and cut again where it was cut, so a secret that arrived in two
chunks is found: a body is always redacted as a recorder does it while it comes (`BodyRedactor`).
Rule 4: what our side sent and does not show is a secret everywhere, whatever its shape
(`known_secrets`). Of what a server says nothing is a secret but by its own shape or name.
Rule 5: redacting twice changes nothing, since stand-ins are known again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import starmap
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette.header import Cassette, Redaction
from conformance.cassette.redaction.body_redaction import BodyRedactor
from conformance.cassette.redaction.credentials import Span, cut_short, find_credentials
from conformance.cassette.redaction.deltas import (
    Deltas,
    is_plain,
    is_plainly_spelled,
    is_suspect,
    texts_in,
)
from conformance.cassette.redaction.known_secrets import HEAD, KnownSecrets, is_spelled
from conformance.cassette.redaction.messages import redact_messages
from conformance.cassette.redaction.opaque import field_spans, secret_spans
from conformance.cassette.redaction.own_keys import own_keys
from conformance.cassette.redaction.placeholders import Placeholders, is_stand_in
from conformance.cassette.redaction.spellings import decode_spellings, spell_alike
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.framing import Framing
from conformance.core.own_keys import NAMES

REDACTED: Final = "[redacted]"
ALLOWED_HEADERS: Final = frozenset(
    {
        *("accept", "accept-encoding", "accept-ranges", "anthropic-beta", "anthropic-version"),
        *("cache-control", "connection", "content-encoding", "content-length", "content-type"),
        *("date", "keep-alive", "last-event-id", "openai-beta", "openai-processing-ms"),
        *("openai-version", "pragma", "retry-after", "server", "transfer-encoding"),
        *("user-agent", "vary", "via", "x-accel-buffering", "x-decoded-from"),
        *("x-content-type-options", "x-include-thinking"),
        *("x-vercel-ai-data-stream", "x-vercel-ai-ui-message-stream"),
    }
)
ALLOWED_QUERY: Final = frozenset(
    {
        *("$alt", "%24alt", "after", "alt", "api-version", "before", "beta", "include"),
        *("include[]", "limit", "order", "starting_after", "stream"),
    }
)
_QUERY: Final = re.compile(r"([?&])([^=&#]*)=([^&#]*)")
_USERINFO: Final = re.compile(r"//[^/?#@]*@")
# Headers that carry a credential.
CREDENTIAL_HEADERS: Final = frozenset(
    {
        *("api-key", "authorization", "cookie", "openai-organization", "openai-project"),
        *("proxy-authorization", "set-cookie", "x-amz-security-token", "x-api-key"),
        *("x-auth-token", "x-goog-api-key"),
    }
)
# Opaque data that is reported again in a text; what is shorter, or in words, is there by chance.
_OPAQUE: Final = re.compile(rb"(?=[^0-9]*[0-9])[A-Za-z0-9+/=_.-]{16,}")
_MOST_OPAQUE: Final = 64
_IDENTITY: Final = ("", "identity")
_FORM: Final = "application/x-www-form-urlencoded"


def stated_model(request: Request) -> str | None:
    """The name of the model that the body asks for."""
    model = request.json.get("model") if isinstance(request.json, dict) else None
    return model if isinstance(model, str) else None


class Redactor:
    """Redacts under one key: equal secrets get equal stand-ins as long as it lives."""

    def __init__(
        self,
        *,
        headers: Collection[str] = ALLOWED_HEADERS,
        query: Collection[str] = ALLOWED_QUERY,
        opaque: bool = True,
        placeholders: Placeholders | None = None,
    ) -> None:
        self._headers = frozenset(name.lower() for name in headers)
        self._query = frozenset(query)
        self._opaque = opaque
        self._placeholders = placeholders or Placeholders()
        self._counts: Counter[str] = Counter()
        self._known = KnownSecrets(self._placeholders)
        self._known_opaque: dict[bytes, None] = {}
        for key in own_keys():
            self._known.learn_key(key)

    def counts(self) -> tuple[Redaction, ...]:
        """What was replaced so far, by rule name."""
        return tuple(starmap(Redaction, sorted((+self._counts).items())))

    def learn(self, secret: str) -> None:
        """Something to be replaced wherever it is. Below 8 characters it is left alone."""
        self._known.learn(secret)

    def text(self, text: str) -> str:
        """Any text: a message, a line of a log, a report. As many bytes as came in."""
        clean = self._clean_bytes(text.encode("utf-8", "surrogatepass"), clipped=True)
        return self._without_spelled(clean).decode("utf-8", "surrogatepass")

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without secrets. Raises CassetteError for a body that is compressed."""
        reported = exchange.seen
        return replace(
            exchange,
            request=exchange.request and self.request(exchange.request),
            response=exchange.response and self.response(exchange.response),
            chunks=self._redact_chunks(exchange),
            seen=None if reported is None else tuple(self.value(list(reported))),
            user_choices=None
            if exchange.user_choices is None
            else self.value(dict(exchange.user_choices)),
        )

    def request(self, request: Request) -> Request:
        """The request without secrets."""
        self.learn_request(request)
        raw = request.raw
        return replace(
            request if raw is None else request.with_raw(self._redact_raw(request, raw)),
            path=self.path(request.path),
            headers=self._redact_headers(request.headers),
            json=self.value(request.json),
        )

    def learn_request(self, request: Request) -> bool:
        """Values that our side sent and that are not shown are secrets; whether there are any.

        Raises CassetteError where they are too much to remember.
        """
        self._known.learn_headers(
            (
                (name, value)
                for name, value in request.headers
                if (name.lower() not in self._headers or name.lower() in NAMES)
                and value != REDACTED
            ),
            # Clients describe their turns in their own headers, with the model's name.
            shown=stated_model(request),
        )
        self._learn_parameters(request.path)
        return bool(self._known)

    def response(self, response: Response) -> Response:
        """The head without secrets. Raises CassetteError where the body cannot be looked into."""
        encoding = (response.header("content-encoding") or "").strip().lower()
        if encoding not in _IDENTITY:
            message = f"a body with content-encoding {encoding!r} cannot be redacted"
            raise CassetteError(message, hint="ask for accept-encoding: identity")
        return replace(response, headers=self._redact_headers(response.headers))

    def path(self, path: str) -> str:
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
        return self._clean_bytes(body)

    def _event(self, event: bytes) -> bytes:
        """As `body`, of an event whose texts may continue in the next ones."""
        if not self._known.has_words:
            return self._clean_bytes(event)
        return self._clean_bytes(
            event, going_on=[(at, at + len(s)) for _, at, s in texts_in(event)]
        )

    def _clean_bytes(
        self, body: bytes, *, clipped: bool = False, going_on: Sequence[tuple[int, int]] = ()
    ) -> bytes:
        known = self._known
        spots = known.spots(body, clipped=clipped, going_on=going_on) if known else []
        if not spots:
            return self._without_shapes(body)
        # A stand-in could look like a secret of its own: it is put in when all else is clean.
        text = bytearray(body)
        for start, stop, _ in spots:
            text[start:stop] = bytes(stop - start)
        text[:] = self._without_shapes(bytes(text))
        for start, stop, stand_in in spots:
            text[start:stop] = stand_in
            self._counts["known"] += stand_in != body[start:stop]
        return bytes(text)

    def _without_shapes(self, body: bytes) -> bytes:
        # Both searches for what is no opaque data begin with a quick look of their own.
        if not self._opaque or is_suspect(body):
            found = secret_spans(body) if self._opaque else field_spans(body)
            self._know_opaque(body, found)
            body = self._replace_spans(body, found)
            body = self._replace_spans(body, sorted(find_credentials(body)))
        return self._without_known_opaque(body) if self._known_opaque else body

    def _without_spelled(self, text: bytes) -> bytes:
        """Without shapes that are spelled otherwise than as themselves."""
        if not is_spelled(text):
            return text
        decoded = decode_spellings(text)
        if not (decoded.rounds and is_suspect(decoded.text)):
            return text
        clean = bytearray(text)
        for span in find_credentials(decoded.text):
            secret = decoded.text[span.start : span.stop]
            start, stop = decoded.raw_span(span.start, span.stop)
            stand_in = self._spell_placeholder(secret)
            clean[start:stop] = spell_alike(text[start:stop], stand_in)
            self._counts[span.rule] += stand_in != secret
        return bytes(clean)

    def is_plain(self, frames: bytes) -> bool:
        """Whether whole frames can stay as they are, as nearly all can; False says nothing."""
        text = frames.decode("latin-1")
        if self._known.has_words:
            return False
        if self._known and (self._known.has_marks(text) or not is_plainly_spelled(text)):
            return False
        if not self._known and not is_plain(text):
            return False
        return not any(secret in frames for secret in self._known_opaque)

    def ending(self, body: bytes, least: int = HEAD) -> bytes:
        """The last bytes of a body, clean before: half a key is a secret, too.

        Of a known one as soon as `least` characters are there.
        """
        cut = cut_short(body)
        if cut:
            return self._replace_spans(body, [cut])
        known = self._known.cut_short(body, least) if self._known else None
        if known is None:
            return body
        start, _, stand_in = known
        self._counts["known"] += stand_in != body[start:]
        return body[:start] + stand_in

    def deltas(self, framing: Framing | None = None) -> Deltas:
        """Redacts the frames of one body, and the secrets that they spell out together."""
        return Deltas(
            self._spell_placeholder, self._event, self._count_rule, framing, known=self._known
        )

    def _spell_placeholder(self, secret: bytes) -> bytes:
        # A key may be replaced as a whole, or all but the prefix by which it is known.
        shaped = [secret[span.start : span.stop] for span in find_credentials(secret)]
        if shaped and all(is_stand_in(one.decode("utf-8", "surrogateescape")) for one in shaped):
            return secret
        raw = secret.decode("utf-8", "surrogateescape")
        return self._placeholders.spelled(raw).encode("utf-8", "surrogateescape")

    def _count_rule(self, rule: str) -> None:
        self._counts[rule] += 1

    def _know_opaque(self, body: bytes, spans: Iterable[Span]) -> None:
        """Where opaque data leaks into a text, it must leak in the redacted stream, too.

        The latest ones are kept.
        """
        for span in spans:
            opaque = body[span.start : span.stop]
            if span.rule.startswith("opaque.") and _OPAQUE.fullmatch(opaque):
                self._known_opaque[opaque] = None
                if len(self._known_opaque) > _MOST_OPAQUE:
                    del self._known_opaque[next(iter(self._known_opaque))]

    def _without_known_opaque(self, body: bytes) -> bytes:
        for opaque in self._known_opaque:
            if opaque in body and not is_stand_in(opaque.decode("utf-8", "surrogateescape")):
                places = (
                    Span(*match.span(), "repeated")
                    for match in re.finditer(re.escape(opaque), body)
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

    def _redact_raw(self, request: Request, body: bytes) -> bytes:
        """A request's body that is not JSON; the fields of a form are those of a query."""
        headers = {name.lower(): value.strip().lower() for name, value in request.headers}
        if headers.get("content-encoding", "") not in _IDENTITY:
            self._counts["compressed"] += body != REDACTED.encode()
            return REDACTED.encode()  # not decoded, so not searched
        text = self.body(body).decode("utf-8", "surrogateescape")
        if _FORM in headers.get("content-type", ""):
            text = _QUERY.sub(self._redact_parameter, f"?{text}")[1:]
        return text.encode("utf-8", "surrogateescape")

    def _learn_parameters(self, path: str) -> None:
        for _, name, value in _QUERY.findall(path):
            if name not in self._query and value != REDACTED:
                self._known.learn_parameter(name, value)
        for userinfo in _USERINFO.findall(path):
            self._known.learn_parameter("password", userinfo[2:-1].partition(":")[2])

    def _redact_chunks(self, exchange: Exchange) -> tuple[Chunk, ...]:
        body = exchange.body
        if self._opaque and is_suspect(body):
            self._know_opaque(body, secret_spans(body))
        if exchange.is_connection:
            return redact_messages(self, exchange)
        streaming = BodyRedactor(self, exchange.response, longest=len(body))
        return (*streaming.feed_all(exchange.chunks), *streaming.close())

    def _redact_headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        # One look for all of them: nearly always there is nothing.
        names = (name for name, _ in headers if name.lower() not in CREDENTIAL_HEADERS)
        shown = (value for name, value in headers if name.lower() in self._headers)
        together = "\n".join((*names, *shown)).encode("utf-8", "surrogateescape")
        clean = self._redact_text if self._may_change(together) else str
        return tuple(
            (clean(name), self._redact_header(name, value, clean)) for name, value in headers
        )

    def _may_change(self, text: bytes) -> bool:
        """Whether `body` may replace anything in the text or a part of it. False is certain."""
        return (
            (bool(self._known) and self._known.may_stand_in(text))
            or is_suspect(text)
            or any(secret in text for secret in self._known_opaque)
        )

    def _redact_header(self, name: str, value: str, clean: Callable[[str], str]) -> str:
        if name.lower() in self._headers:
            return clean(value)
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
