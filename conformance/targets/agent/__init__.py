"""A command under test that is driven over its standard streams, as an editor does."""

from __future__ import annotations

from conformance.targets.agent.target import AgentTarget

__all__ = ["AgentTarget"]
