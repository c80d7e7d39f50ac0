"""The script of a recorded WebSocket: the messages of both sides, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.core.events import UPGRADED, Chunk, Ending, Exchange, Response, SocketMessage
from conformance.targets.replay.cutting import cut_chunks, with_flipped_bit
from conformance.targets.replay.options import ReplayOptions
from conformance.targets.replay.script import AnswerEnd, broken_off, place_of, recorded_headers
from conformance.wire.heads import Headers

SocketEnd = Literal["close", "wait", "fin", "rst", "stall"]
"""`close` is a close of ours, `wait` waits for the client's, the others are of the connection."""

_ENDS: Final[Mapping[Ending, AnswerEnd]] = {"idle-timeout": "stall", "protocol-error": "fin"}
_NORMAL: Final = 1000


class SocketStep(NamedTuple):
    """A message, and the milliseconds to wait before it; of the client's only the text counts."""

    message: SocketMessage
    ms: float

    @property
    def is_sent(self) -> bool:
        return self.message.side == "server"


@dataclass(frozen=True)
class SocketScript:
    """One WebSocket. `size` bytes of the server's messages are sent, of `whole`.

    Where an option breaks it off, `is_broken`: the client's messages after that are not waited
    for. `code` is that of our close.
    """

    steps: tuple[SocketStep, ...]
    headers: Headers
    head_ms: float
    end: SocketEnd
    end_ms: float
    code: int
    size: int
    whole: int
    is_broken: bool
    salt: str
    options: ReplayOptions
    status: int = UPGRADED

    def pieces(self, at: int) -> Iterator[bytes]:
        """The message of step `at` as the frames that it is sent in."""
        data = self.steps[at].message.data
        found = cut_chunks([Chunk(data)], self.options.chunking, salt=f"{self.salt}/{at}")
        return (piece for _, piece in found)


def socket_script(exchange: Exchange, clock: CassetteClock, options: ReplayOptions) -> SocketScript:
    """Return the script. Raises CassetteError for a head that HTTP cannot carry."""
    messages = [each for each in exchange.chunks if isinstance(each, SocketMessage)]
    sent = [each for each in messages if each.side == "server"]
    ends = tuple(accumulate(len(each.data) for each in sent))
    whole = ends[-1] if ends else 0
    unbroken: AnswerEnd = "whole"
    size, broken = broken_off(ends, whole, unbroken, options)
    edited: Iterator[Chunk] = iter(sent)
    if options.corrupt is not None:
        edited = iter(with_flipped_bit(sent, place_of(options.corrupt, ends, whole)))
    factor = options.timing.factor
    steps = (SocketStep(_as_edited(each, edited), (each.ms or 0.0) * factor) for each in messages)
    return SocketScript(
        steps=tuple(steps),
        headers=recorded_headers(
            replace(exchange.response or Response(), status=UPGRADED), exchange
        ),
        head_ms=(clock.head or 0.0) * factor,
        end=_recorded_end(exchange) if broken == "whole" else broken,
        end_ms=(clock.end or 0.0) * factor,
        code=exchange.close_code or _NORMAL,
        size=size,
        whole=whole,
        is_broken=broken != "whole",
        salt=str(exchange.number),
        options=options,
    )


def _as_edited(message: SocketMessage, edited: Iterator[Chunk]) -> SocketMessage:
    if message.side == "client":
        return message
    return SocketMessage(next(edited).data, message.ms, message.side, message.binary)


def _recorded_end(exchange: Exchange) -> SocketEnd:
    """Where the client closed, or the recorder died, it is the client's to close again."""
    if exchange.end == "eof" or (exchange.end == "reset" and exchange.close_code):
        return "close"
    if exchange.end == "reset":
        return "rst"
    found = _ENDS.get(exchange.end)
    return "wait" if found is None or found == "whole" else found
