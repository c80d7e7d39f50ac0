"""Messages of a WebSocket as other programs keep them, gathered into one connection."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from msgspec import Struct, field

from conformance.cassette.positions import Layout
from conformance.core.events import Ending, Side, SocketMessage

TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
"""Kinds of frames, https://www.rfc-editor.org/rfc/rfc6455#section-5.2."""
_MOST_MS: Final = 3.2e13
_CLEAN: Final = frozenset({1000, 1001, 1005})
"""Codes of a close that was meant, https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1."""


class GatheredMessages(Struct):
    """Takes messages in their order; times are seconds on any clock, None where none was kept."""

    messages: list[SocketMessage] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    _latest: float | None = None

    def add(self, side: Side, data: bytes, at: Any, line: int, *, binary: bool = False) -> None:
        self.messages.append(SocketMessage(data, self._waited(at), side, binary))
        self.lines.append(line)

    def layout(self, head: int) -> Layout:
        """Where the messages are in the file."""
        if not self.messages:
            return Layout(head)
        starts = accumulate((len(each.data) for each in self.messages[:-1]), initial=0)
        return Layout(head, tuple(starts), tuple(self.lines))

    def _waited(self, at: Any) -> float | None:
        """Milliseconds since the message before; none are known of the first."""
        now = float(at) if is_time(at) else None
        before, self._latest = self._latest, now
        if now is None:
            return None
        if not self.messages:
            return 0.0
        ms = None if before is None else round((now - before) * 1e3, 3)
        return None if ms is None or ms > _MOST_MS else max(0.0, ms)


def is_time(value: Any) -> bool:
    """Whether this may be a time: a number of which sums stay finite."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -_MOST_MS <= value <= _MOST_MS


def closed_by(side: Side, code: Any) -> Ending:
    """How a connection ended that one side closed with a code, or without one."""
    if side == "client":
        return "client-closed"
    return "reset" if isinstance(code, int) and code not in _CLEAN else "eof"


def side_named(word: Any) -> Side | None:
    """Who sent a message, by the word of a program that was the client; None for another word."""
    name = word.lower() if isinstance(word, str) else ""
    return next((side for side, words in _WORDS.items() if name in words), None)


def other_side(side: Side) -> Side:
    return "server" if side == "client" else "client"


_WORDS: Final[dict[Side, Sequence[str]]] = {
    "client": (
        *("client", "send", "sent", "out", "outgoing", "outbound", "upstream", "c2s"),
        *("client_to_server", "client-to-server", "request", "->", ">"),
    ),
    "server": (
        *("server", "receive", "received", "recv", "in", "incoming", "inbound", "downstream"),
        *("s2c", "server_to_client", "server-to-client", "response", "<-", "<"),
    ),
}
