"""A command under test that is asked on its standard streams, as an editor does."""

from __future__ import annotations

from conformance.targets.agent.target import AgentTarget

__all__ = ["AgentTarget"]
