"""The figures of a soak for the report: requests, rate and failures."""

from __future__ import annotations

from msgspec import Struct


class Latency(Struct, frozen=True):
    """How long something took, in milliseconds, over so many answers."""

    answers: int
    p50: float
    p99: float


class SoakFailure(Struct, frozen=True):
    """A way in which answers failed (`HTTP 503`, `broke off`), and how many did."""

    kind: str
    requests: int


class SoakFigures(Struct, frozen=True):
    """Scenarios again and again for `seconds`, `jobs` at a time; `rate` is requests per second.

    `requests` are those that were answered, or should have been. Latencies run from the request
    to the first piece of streamed thinking and text; None where there was none. Of failures the
    most frequent comes first. `interrupted`: it was ended before its time.
    """

    seconds: float
    jobs: int
    requests: int
    rate: float
    first_thinking: Latency | None = None
    first_text: Latency | None = None
    failures: tuple[SoakFailure, ...] = ()
    interrupted: bool = False
