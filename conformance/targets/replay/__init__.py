"""Plays cassettes to a client under test: bytes, chunks, times and endings as recorded, or worse.

`ReplayServer` is the server, `serving` runs one in a thread; `ReplayOptions` are the knobs, `Seen`
is what the client did.
"""

from conformance.targets.replay.options import (
    BodySpot,
    Chunking,
    ReplayLimits,
    ReplayOptions,
    ReplayTiming,
)
from conformance.targets.replay.routing import url_prefix
from conformance.targets.replay.script import event_count
from conformance.targets.replay.server import ReplayServer, ThreadedServer, serving
from conformance.targets.replay.state import ReplayOutcome, ServedRequest
from conformance.targets.replay.tape import ExchangeAddress, ReplaySource

__all__ = [
    "BodySpot",
    "Chunking",
    "ExchangeAddress",
    "ReplayLimits",
    "ReplayOptions",
    "ReplayOutcome",
    "ReplayServer",
    "ReplaySource",
    "ReplayTiming",
    "ServedRequest",
    "ThreadedServer",
    "event_count",
    "serving",
    "url_prefix",
]
