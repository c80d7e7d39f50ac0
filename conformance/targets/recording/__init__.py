"""Records what passes between a client and a server.

`RecordingProxy` stands between them; `record_directly` is the client itself. Both write each chunk
as it comes, cut as it came.
"""

from __future__ import annotations

from conformance.targets.recording.direct import (
    DirectRequest,
    RequestSequence,
    fixed_requests,
    load_requests,
    record_directly,
)
from conformance.targets.recording.exchange import ExchangeOutcome, RecordingOptions
from conformance.targets.recording.folder import RecordingFolder
from conformance.targets.recording.proxy import ProxyTimeouts, RecordingProxy
from conformance.wire.origin import Origin

__all__ = [
    "DirectRequest",
    "ExchangeOutcome",
    "Origin",
    "ProxyTimeouts",
    "RecordingFolder",
    "RecordingOptions",
    "RecordingProxy",
    "RequestSequence",
    "fixed_requests",
    "load_requests",
    "record_directly",
]
