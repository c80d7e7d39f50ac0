"""A live run: scenarios x target x suites, to recordings and verdicts."""

from __future__ import annotations

from conformance.run.models import only_model
from conformance.run.options import Options
from conformance.run.plan import plan, priced
from conformance.run.session import Outcome, promises_of, run_server

__all__ = ["Options", "Outcome", "only_model", "plan", "priced", "promises_of", "run_server"]
