"""x"""
from __future__ import annotations
def derived(stream, profile, rules): return ()
