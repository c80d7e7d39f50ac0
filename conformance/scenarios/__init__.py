"""Scenarios: the requests to send so that rules get exercised."""

from conformance.scenarios.load import (
    load_scenario,
    load_scenarios,
    own_request,
    read_scenario,
    shipped_scenarios,
)
from conformance.scenarios.model import CAPABILITIES, ENDS, Carry, Scenario, Step, compose

__all__ = [
    "CAPABILITIES",
    "ENDS",
    "Carry",
    "Scenario",
    "Step",
    "compose",
    "load_scenario",
    "load_scenarios",
    "own_request",
    "read_scenario",
    "shipped_scenarios",
]
