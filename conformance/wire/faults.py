"""How long an exchange may take, and how it broke off: as an ending, and in a line for people."""

from __future__ import annotations

import socket
import ssl
from time import monotonic
from typing import Final

from msgspec import Struct

from conformance.core.errors import ConformanceError
from conformance.core.events import Ending
from conformance.report.printable import visible

_SHOWN: Final = 200
_UNFINISHED_TLS: Final = "the server did not complete the handshake"
_NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"})
_KNOWN: Final[tuple[tuple[tuple[type[OSError], ...], str], ...]] = (
    ((ConnectionResetError, BrokenPipeError), "the connection was reset"),
    ((ConnectionRefusedError,), "nothing listens there (connection refused)"),
    ((socket.gaierror,), "no host of that name is known"),
)
_OTHER_PROTOCOL: Final = "the answer is not HTTP/1.1; maybe HTTP/2 without TLS, or another protocol"
# What h11 calls an answer that begins with control bytes, or otherwise.
_NO_HTTP: Final = ("illegal request line", "illegal status line")


class BrokenExchange(Exception):  # noqa: N818  # it shows how a stream ended; it is not our error
    """The exchange ended like this, and not by itself."""

    def __init__(self, end: Ending, why: str, *, hint: str = "") -> None:
        super().__init__(why)
        self.end = end
        self.hint = hint

    @property
    def explanation(self) -> str:
        """Why it ended, with what a user can do about it."""
        return f"{self} ({self.hint})" if self.hint else str(self)


class ExchangeLimits(Struct, frozen=True):
    """Bounds of one exchange: seconds, and bytes of a body after decompression.

    `timeout` is for the whole exchange, `idle` for silence within a stream, `connect` for getting
    through at all.
    """

    timeout: float = 300.0
    idle: float = 60.0
    connect: float = 10.0
    max_bytes: int = 64 * 1024 * 1024

    def fell_silent(self, begun: float) -> BrokenExchange:
        """Nothing came: of the stream for too long, or of the exchange in all its time."""
        if monotonic() - begun >= self.timeout:
            return self.too_slow()
        return BrokenExchange("idle-timeout", f"nothing came for {self.idle:g} s")

    def too_slow(self) -> BrokenExchange:
        return BrokenExchange("client-closed", f"it had not ended after {self.timeout:g} s")

    def too_much(self) -> BrokenExchange:
        return BrokenExchange("client-closed", f"it had not ended after {self.max_bytes} bytes")


def describe_network_error(error: BaseException) -> str:
    """What went wrong, in one line, without a library's words for it."""
    if isinstance(error, ConformanceError):
        return str(error)
    cause = root_cause(error)
    if isinstance(cause, ssl.SSLError):
        named = (getattr(cause, each, "") for each in ("verify_message", "reason"))
        stated = next(filter(None, named), _UNFINISHED_TLS)
        return f"TLS failed: {visible(stated, _SHOWN)}"
    for kinds, words in _KNOWN:
        if isinstance(cause, kinds):
            return words
    if str(cause).startswith(_NO_HTTP):
        return _OTHER_PROTOCOL
    if isinstance(error, TimeoutError):
        return "timed out"
    words = getattr(error, "strerror", None) or str(error) or str(cause) or type(cause).__name__
    text = visible(words, _SHOWN).rstrip(".")
    return text[:1].lower() + text[1:]


def network_hint(error: BaseException) -> str:
    """What a user can do about it; empty where only the server can."""
    cause = root_cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return "--cacert FILE names the CA of the server, --insecure skips the check"
    if isinstance(cause, ssl.SSLError):
        is_plain = isinstance(cause, ssl.SSLWantReadError) or cause.reason in _NO_TLS
        return "no TLS is spoken there; try http://" if is_plain else ""
    if str(cause).startswith(_NO_HTTP):
        return "name a port where HTTP/1.1 is spoken"
    return ""


def root_cause(error: BaseException) -> BaseException:
    """What the error came of in the end."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup):  # one for each address of a host
            error = error.exceptions[0]
        else:
            error = error.__cause__ or error.__context__ or error
    return error
