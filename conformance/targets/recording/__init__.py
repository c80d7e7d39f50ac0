"""Records what passes between a client and a server.

`RecordingProxy` stands between them; `record_directly` is the client itself. Both write each chunk
as it comes, cut as it came.
"""

from __future__ import annotations

from conformance.targets.recording.direct import (
    Asking,
    Questions,
    in_turn,
    load_requests,
    record_directly,
)
from conformance.targets.recording.proxy import RecordingProxy
from conformance.targets.recording.relay import Patience
from conformance.targets.recording.shelf import Shelf, Terms
from conformance.targets.recording.take import Told
from conformance.wire.origin import Origin

__all__ = [
    "Asking",
    "Origin",
    "Patience",
    "Questions",
    "RecordingProxy",
    "Shelf",
    "Terms",
    "Told",
    "in_turn",
    "load_requests",
    "record_directly",
]
