"""Records what passes between a client and a server.

`RecordingProxy` is between them; `record_directly` is the client itself. Both record each chunk
as it comes, cut as it came: a `RecordingFolder` at once, a `RecordingQueue` in another process.
"""

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
from conformance.targets.recording.proxy import ProxyLimits, ProxyTimeouts, RecordingProxy
from conformance.targets.recording.queued import RecordingQueue
from conformance.wire.origin import Origin

__all__ = [
    "DirectRequest",
    "ExchangeOutcome",
    "Origin",
    "ProxyLimits",
    "ProxyTimeouts",
    "RecordingFolder",
    "RecordingOptions",
    "RecordingProxy",
    "RecordingQueue",
    "RequestSequence",
    "fixed_requests",
    "load_requests",
    "record_directly",
]
