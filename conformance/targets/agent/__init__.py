"""A command under test that is driven over its standard streams, as an editor does."""

from conformance.targets.agent.target import AgentTarget

__all__ = ["AgentTarget"]
