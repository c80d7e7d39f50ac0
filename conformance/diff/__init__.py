"""What changed on the wire between two recordings: shape, not content.

`compare` takes files or folders; `RecordingDifference` says which exchanges changed and how.
"""

from conformance.diff.changes import WireChange
from conformance.diff.pairs import ExchangeComparison, RecordingDifference, compare

__all__ = ["ExchangeComparison", "RecordingDifference", "WireChange", "compare"]
