"""A live run: scenarios x target x suites, to recordings and verdicts."""

from __future__ import annotations

from conformance.runs.models import only_model
from conformance.runs.options import Options
from conformance.runs.plan import plan, priced
from conformance.runs.recorded import recorded_scenarios
from conformance.runs.recording import asked_of
from conformance.runs.session import Outcome, promises_of, run_server
from conformance.runs.visit import Way

__all__ = [
    "Options",
    "Outcome",
    "Way",
    "asked_of",
    "only_model",
    "plan",
    "priced",
    "promises_of",
    "recorded_scenarios",
    "run_server",
]
