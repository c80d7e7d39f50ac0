"""How long, how silent and how large an answer may be before it is given up."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from conformance.wire.faults import BrokenExchange


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
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
