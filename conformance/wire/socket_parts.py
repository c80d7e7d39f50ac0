"""The parts of a WebSocket stream: messages, control frames, close codes.

https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

GOING_AWAY: Final = 1001
PROTOCOL_ERROR: Final = 1002
NO_CODE: Final = 1005  # a close that names none
INVALID_TEXT: Final = 1007
POLICY: Final = 1008
TOO_BIG: Final = 1009
TRY_LATER: Final = 1013
BAD_GATEWAY: Final = 1014

FrameKind = Literal["text", "binary", "ping", "pong", "close"]


class SocketPart(NamedTuple):
    """A whole message, or a control frame. `code` is that of a close, `data` then its reason."""

    kind: FrameKind
    data: bytes
    code: int = 0

    @property
    def is_message(self) -> bool:
        return self.kind in ("text", "binary")


class SocketFault(NamedTuple):
    """How a side broke the protocol, and the code to close with."""

    code: int
    why: str
