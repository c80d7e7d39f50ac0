"""Why an answer broke off, in a few words and as an ending."""

from __future__ import annotations

import ssl
from typing import Final

import httpx

from conformance.core.errors import ConformanceError
from conformance.core.events import Ending
from conformance.report.printable import visible

_SHOWN: Final = 200


class Fault(Exception):  # noqa: N818  # it tells how a stream ended; nobody erred here
    """The body ended like this, and not by itself."""

    def __init__(self, end: Ending, why: str) -> None:
        super().__init__(why)
        self.end = end


def fault_of(error: Exception) -> Fault:
    """What an error while reading a body means for the stream."""
    # h11 tells broken framing and a close before the last chunk alike.
    if isinstance(error, httpx.RemoteProtocolError):
        return Fault("protocol-error", told(error))
    return Fault("reset", told(error))


def told(error: BaseException) -> str:
    """An error of the network in one line: what went wrong, without a library's words for it."""
    if isinstance(error, ConformanceError):
        return str(error)
    cause = _innermost(error)
    if isinstance(cause, ssl.SSLError):
        return f"TLS failed: {visible(cause.reason or str(cause), _SHOWN)}"
    text = visible(str(error) or str(cause) or type(cause).__name__, _SHOWN).rstrip(".")
    text = text[:1].lower() + text[1:]
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return f"cannot connect: {text}" if str(error) else "cannot connect: timed out"
    if isinstance(cause, ConnectionResetError | BrokenPipeError):
        return "the connection was reset"
    return text


def _innermost(error: BaseException) -> BaseException:
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or error.__context__ or error
    return error
