"""How long an exchange may take, and how it broke off: as an ending, and in a line for people."""

from __future__ import annotations

import ssl
from time import monotonic
from typing import Final

from msgspec import Struct

from conformance.core.errors import ConformanceError
from conformance.core.events import Ending
from conformance.report.printable import visible

_SHOWN: Final = 200


class BrokenExchange(Exception):  # noqa: N818  # it tells how a stream ended; nobody erred here
    """The exchange ended like this, and not by itself."""

    def __init__(self, end: Ending, why: str) -> None:
        super().__init__(why)
        self.end = end


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
        return f"TLS failed: {visible(cause.reason or str(cause), _SHOWN)}"
    if isinstance(cause, ConnectionResetError | BrokenPipeError):
        return "the connection was reset"
    if isinstance(error, TimeoutError):
        return "timed out"
    words = getattr(error, "strerror", None) or str(error) or str(cause) or type(cause).__name__
    text = visible(words, _SHOWN).rstrip(".")
    return text[:1].lower() + text[1:]


def root_cause(error: BaseException) -> BaseException:
    """What the error came of in the end."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or error.__context__ or error
    return error
