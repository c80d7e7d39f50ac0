"""What stands behind a gateway, played by the toolkit: by a script, or as it was recorded."""

from __future__ import annotations

from conformance.targets.gateway.scripts import Recorded, Scripts
from conformance.targets.gateway.upstream import Heard, Upstream, playing

__all__ = ["Heard", "Recorded", "Scripts", "Upstream", "playing"]
