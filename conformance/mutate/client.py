"""Client defects."""
from __future__ import annotations
def client_mutants(exchange): return ()
