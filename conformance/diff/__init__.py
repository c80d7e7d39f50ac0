"""What changed on the wire between two recordings: shape, not content.

`compare` takes files or folders; `Difference` says which exchanges changed and how.
"""

from __future__ import annotations

from conformance.diff.changes import Change
from conformance.diff.pairs import Compared, Difference, compare

__all__ = ["Change", "Compared", "Difference", "compare"]
