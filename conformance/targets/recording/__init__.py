"""Records what passes between a client and a server.

`RecordingProxy` stands between them; `record_directly` is the client itself. Both write each chunk
as it comes, cut as it came.
"""

from __future__ import annotations

from conformance.targets.recording.cassette_file import RecordingOptions
from conformance.targets.recording.direct import (
    DirectRequest,
    RequestSequence,
    fixed_requests,
    load_requests,
    record_directly,
)
from conformance.targets.recording.exchange import ExchangeOutcome
from conformance.targets.recording.folder import RecordingFolder
from conformance.targets.recording.proxy import RecordingProxy
from conformance.targets.recording.relay import ProxyTimeouts
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
