"""A live run: scenarios x target x suites, to recordings and verdicts."""

from conformance.runs.application_run import run_application
from conformance.runs.models import only_model
from conformance.runs.options import RunOptions
from conformance.runs.outcome import RunOutcome
from conformance.runs.plan import plan_requests, request_costs
from conformance.runs.recorded import recorded_scenarios
from conformance.runs.session import profiles_of, run_server
from conformance.runs.step_requests import RequestSettings, scenario_requests

__all__ = [
    "RequestSettings",
    "RunOptions",
    "RunOutcome",
    "only_model",
    "plan_requests",
    "profiles_of",
    "recorded_scenarios",
    "request_costs",
    "run_application",
    "run_server",
    "scenario_requests",
]
