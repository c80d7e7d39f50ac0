"""What stands behind a gateway, played by the toolkit: by a script, or as it was recorded."""

from __future__ import annotations

from conformance.targets.gateway.scripts import Recorded, Scripts
from conformance.targets.gateway.upstream import UpstreamCall, UpstreamStandIn, serve_upstream

__all__ = ["Recorded", "Scripts", "UpstreamCall", "UpstreamStandIn", "serve_upstream"]
