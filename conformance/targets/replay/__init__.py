"""Plays cassettes to a client under test: bytes, chunks, times and endings as recorded, or worse.

`ReplayServer` is the server, `serving` runs one in a thread; `ReplayOptions` are the knobs, `Seen`
is what the client did.
"""

from __future__ import annotations

from conformance.targets.replay.options import Chunking, Limits, ReplayOptions, Spot, Timing
from conformance.targets.replay.routing import prefix
from conformance.targets.replay.script import event_count
from conformance.targets.replay.seen import Outcome, Seen
from conformance.targets.replay.server import ReplayServer
from conformance.targets.replay.serving import Serving, serving
from conformance.targets.replay.tape import Address, Source

__all__ = [
    "Address",
    "Chunking",
    "Limits",
    "Outcome",
    "ReplayOptions",
    "ReplayServer",
    "Seen",
    "Serving",
    "Source",
    "Spot",
    "Timing",
    "event_count",
    "prefix",
    "serving",
]
