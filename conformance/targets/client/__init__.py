"""Clients under test: an adapter process, cases from recordings, and what it reports judged.

`run_client` is the whole run; `Adapter` speaks the harness protocol with one process.
"""

from __future__ import annotations

from conformance.judging.harness import RULES
from conformance.targets.client.adapter import Adapter, Told
from conformance.targets.client.process import AdapterFault, Bounds
from conformance.targets.client.protocol import VERSION, Implementation
from conformance.targets.client.session import ClientOptions, ClientOutcome, run_client

__all__ = [
    "RULES",
    "VERSION",
    "Adapter",
    "AdapterFault",
    "Bounds",
    "ClientOptions",
    "ClientOutcome",
    "Implementation",
    "Told",
    "run_client",
]
