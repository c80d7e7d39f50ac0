"""Clients under test: an adapter process, cases from recordings, and what it reports judged.

`run_client` is the whole run; `Adapter` speaks the harness protocol with one process.
"""

from conformance.judging.harness import RULES
from conformance.targets.client.adapter import Adapter, AdapterAnswer
from conformance.targets.client.client_session import ClientOptions, ClientOutcome, run_client
from conformance.targets.client.process import AdapterBounds, AdapterFault
from conformance.targets.client.protocol import VERSION, ClientImplementation

__all__ = [
    "RULES",
    "VERSION",
    "Adapter",
    "AdapterAnswer",
    "AdapterBounds",
    "AdapterFault",
    "ClientImplementation",
    "ClientOptions",
    "ClientOutcome",
    "run_client",
]
