"""Exchanges in, cassette files out.

Two ways, chosen by `append`. Without it (`convert`, `redact`, `mutate`: the content is at hand)
the lines go to a file next to the target, which takes its place on success: never half a file.
With it (a recorder: the content comes as it happens) the target is created at once and every line
is flushed, so that a crash leaves a torn but readable cassette.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from conformance.cassette.header import Cassette, CassetteClock, Header, Redaction
from conformance.cassette.records import header_fields
from conformance.cassette.redaction.public_hosts import is_public
from conformance.cassette.segments import message_segments, plain_segments, segments
from conformance.cassette.target_file import TargetFile, encode_line
from conformance.core.errors import UsageError
from conformance.core.events import ENDINGS, Ending, Exchange, Request, Response, SocketMessage
from conformance.core.framing import Framing, stated_framing


class _ExchangeState(Struct):
    """What the writer must remember of one exchange."""

    framing: Framing | None = None
    responded: bool = False
    ended: bool = False
    chunks: int = 0
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)


class Writer:
    """Writes one cassette; a context manager.

    Lines of an exchange come in the order request, response, chunks, end, seen; exchanges may
    interleave. Calls without `exchange` mean the latest request's. With `seal`, every end states
    chunks, bytes and hash. An existing file is replaced; with `append` it is refused.
    """

    def __init__(
        self, path: Path | str, header: Header, *, append: bool = False, seal: bool = False
    ) -> None:
        self._path = Path(path)
        self._seal = seal
        self._accounts: dict[int, _ExchangeState] = {}
        self._current = 0
        self._dialect = header.dialect
        self._file = TargetFile(self._path, append=append)
        try:
            self._write_line(header_fields(header))
        except BaseException:
            self._file.discard()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.__exit__(kind)

    def close(self) -> None:
        """The cassette is complete; a second call does nothing."""
        self._file.close()

    def flush(self) -> None:
        """What a recorder wrote so far is safe from its crash."""
        self._file.flush()

    def request(
        self,
        request: Request | None,
        *,
        exchange: int | None = None,
        dialect: str | None = None,
        scenario: str = "",
        role: str = "",
        hop: str = "",
        after: int | None = None,
        user_choices: Mapping[str, Any] | None = None,
        ms: float | None = None,
    ) -> int:
        """Opens an exchange and returns its number. None: the request was not recorded.

        `ms` is when it went out, on a clock that all exchanges of the cassette share.
        """
        number = exchange or max(self._accounts, default=0) + 1
        if number in self._accounts:
            raise UsageError(f"exchange {number} was opened before")
        self._accounts[number] = _ExchangeState()
        self._current = number
        own = dialect if dialect != self._dialect else None
        facts = {"dialect": own, "scenario": scenario, "role": role, "hop": hop, "after": after}
        known = {key: value for key, value in facts.items() if value}
        chosen = {} if user_choices is None else {"user_choices": user_choices}
        self._write_line(
            {
                "request": request_fields(request),
                "exchange": number,
                **_time_field(ms),
                **known,
                **chosen,
            }
        )
        return number

    def response(
        self, response: Response | None, *, ms: float | None = None, exchange: int | None = None
    ) -> None:
        """The head, `ms` after the request. None: it was not recorded."""
        account = self._open_account(exchange)
        if account.responded:
            raise UsageError("a second response of one exchange")
        account.responded = True
        account.framing = stated_framing(response)
        self._write_line({"response": response_fields(response), **_time_field(ms)}, exchange)

    def chunk(
        self,
        data: bytes,
        *,
        ms: float | None = None,
        exchange: int | None = None,
        flush: bool = True,
    ) -> None:
        """Bytes that arrived together, `ms` after the chunk before.

        Without `flush` they are safe from a crash after the next call, or `flush`.
        """
        account = self._open_account(exchange)
        if not account.responded:
            raise UsageError("a chunk before the response of its exchange")
        # The first chunk begins by itself; a later one without a clock has to say so.
        begins: dict[str, Any] = {"ms": ms} if account.chunks or ms is not None else {}
        named = self._exchange_field(exchange)
        lines = [] if named else _plain_lines(data, ms, account.framing)
        for encoding, value in () if lines else segments(data, account.framing):
            lines.append(encode_line({**begins, encoding: value, **named}, str(self._path)))
            begins = {}
        self._file.put(b"".join(lines), len(lines))
        if flush:
            self.flush()
        self._count(account, data)

    def message(
        self, message: SocketMessage, *, exchange: int | None = None, flush: bool = True
    ) -> None:
        """A message of a WebSocket, `ms` after the one before, from either side; as `chunk`."""
        account = self._open_account(exchange)
        if not account.responded:
            raise UsageError("a message before the response of its exchange")
        named = self._exchange_field(exchange)
        begins: dict[str, Any] = {"from": message.side, **_time_field(message.ms)}
        lines = []
        for encoding, value in message_segments(message.data, binary=message.binary):
            lines.append(encode_line({**begins, encoding: value, **named}, str(self._path)))
            begins = {}
        self._file.put(b"".join(lines), len(lines))
        if flush:
            self.flush()
        self._count(account, message.data)

    def end(
        self,
        how: Ending,
        *,
        ms: float | None = None,
        exchange: int | None = None,
        touched: Sequence[str] = (),
        note: str = "",
        close_code: int | None = None,
    ) -> None:
        """How the response ended, `ms` after the last chunk, and what `Exchange.touched` says.

        `note` says why more came than is recorded, `close_code` is that of a WebSocket.
        """
        account = self._open_account(exchange)
        if how not in ENDINGS:
            raise UsageError(f"expected an ending ({', '.join(ENDINGS)}), got {how!r}")
        account.ended = True
        seal = {"chunks": account.chunks, "bytes": account.size}
        sealed = {**seal, "sha256": account.digest.hexdigest()} if self._seal else {}
        noted_rules = {"touched": list(touched)} if touched else {}
        noted = {"note": note} if note else {}
        closed = {} if close_code is None else {"close_code": close_code}
        self._write_line(
            {"end": how, **_time_field(ms), **closed, **sealed, **noted_rules, **noted}, exchange
        )

    def seen(self, events: Iterable[Mapping[str, Any]], *, exchange: int | None = None) -> None:
        """What a client under test reported, its objects unchanged."""
        number = exchange or self._current
        if number not in self._accounts:
            raise UsageError("`seen` before the request of its exchange")
        self._write_line({"seen": list(events), "exchange": number})

    def redactions(self, counts: Iterable[Redaction]) -> None:
        """A trailer: redactions that were not known when the header was written."""
        self._write_line({"redactions": [asdict(each) for each in counts]})

    def exchange(self, exchange: Exchange, clock: CassetteClock | None = None) -> None:
        """A whole exchange. Chunks need a head: where there is none, it is written as unknown."""
        times = clock or CassetteClock()
        self.request(
            exchange.request,
            exchange=exchange.number,
            dialect=exchange.dialect,
            scenario=exchange.scenario,
            role=exchange.role,
            hop=exchange.hop,
            after=exchange.after,
            user_choices=exchange.user_choices,
            ms=times.begun,
        )
        if exchange.response is not None or exchange.chunks:
            self.response(exchange.response, ms=times.head)
        for chunk in exchange.chunks:
            if isinstance(chunk, SocketMessage):
                self.message(chunk)
            else:
                self.chunk(chunk.data, ms=chunk.ms)
        self.end(
            exchange.end,
            ms=times.end,
            touched=exchange.touched,
            close_code=exchange.close_code,
        )
        if exchange.seen is not None:
            self.seen(exchange.seen)

    def _count(self, account: _ExchangeState, data: bytes) -> None:
        account.chunks += 1
        account.size += len(data)
        if self._seal:
            account.digest.update(data)

    def _open_account(self, exchange: int | None) -> _ExchangeState:
        number = exchange or self._current
        account = self._accounts.get(number)
        if account is None or account.ended:
            raise UsageError(f"exchange {number} is not open")
        return account

    def _exchange_field(self, exchange: int | None) -> dict[str, int]:
        """The number, where it does not follow from the latest request."""
        return {} if exchange is None or exchange == self._current else {"exchange": exchange}

    def _write_line(self, fields: Mapping[str, Any], exchange: int | None = None) -> None:
        self._file.put(encode_line({**fields, **self._exchange_field(exchange)}, str(self._path)))
        self.flush()


def write(path: Path | str, cassette: Cassette, *, seal: bool | None = None) -> None:
    """Writes a whole cassette, atomically; sealed as it was unless `seal` says otherwise."""
    sealed = cassette.sealed if seal is None else seal
    with Writer(path, cassette.header, seal=sealed) as writer:
        for exchange in cassette.exchanges:
            writer.exchange(exchange, cassette.clocks.get(exchange.number))
        if cassette.trailer:
            writer.redactions(cassette.trailer)


def _plain_lines(data: bytes, ms: float | None, framing: Framing | None) -> list[bytes]:
    """The lines of a chunk that is plain ASCII, as nearly all are; none for any other.

    The same bytes as `json.dumps` gives, in a fraction of the time.
    """
    texts = plain_segments(data, framing) if isinstance(ms, float) and isfinite(ms) else []
    if not texts:
        return []
    first, *others = map(msgspec.json.encode, texts)
    begun = b'{"ms":%b,"text":%b}\n' % (repr(ms).encode(), first)
    return [begun, *(b'{"text":%b}\n' % each for each in others)]


def request_fields(request: Request | None) -> dict[str, Any] | None:
    """The request as the object of its line; what is empty is left out.

    The host of a server that is not public is left out, too: its name may be private.
    """
    if request is None:
        return None
    fields: dict[str, Any] = {"method": request.method, "path": request.path}
    if is_public(request.host) and request.server:
        fields["server"] = request.server
    if request.headers:
        fields["headers"] = request.headers
    if request.json is not None:
        fields["json"] = request.json
    if request.text is not None:
        fields["text"] = request.text
    elif request.base64 is not None:
        fields["base64"] = b64encode(request.base64).decode()
    return fields


def response_fields(response: Response | None) -> dict[str, Any] | None:
    """The head as the object of its line; what is empty is left out."""
    if response is None:
        return None
    fields = {"status": response.status, "http": response.http, "headers": response.headers}
    return {key: value for key, value in fields.items() if value}


def _time_field(ms: float | None) -> dict[str, float]:
    return {} if ms is None else {"ms": ms}
