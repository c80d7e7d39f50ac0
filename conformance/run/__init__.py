"""A live run: scenarios x target x suites, to recordings and verdicts."""

from __future__ import annotations

from conformance.run.models import only_model
from conformance.run.options import Options
from conformance.run.plan import plan, priced
from conformance.run.recorded import recorded_scenarios
from conformance.run.recording import asked_of
from conformance.run.session import Outcome, promises_of, run_server
from conformance.run.visit import Way

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
