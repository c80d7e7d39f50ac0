"""Scenarios: the requests to send so that rules get exercised."""

from __future__ import annotations

from conformance.scenarios.bodies import compose
from conformance.scenarios.catalogue import load_scenarios
from conformance.scenarios.load import load_scenario, read_scenario
from conformance.scenarios.model import CAPABILITIES, ENDS, Carry, Scenario, Step
from conformance.scenarios.own_request import own_request

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
]
