"""Knobs that suites of no dialect read, with what holds where a profile declares none of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from conformance.dialects.marker_families import marker_knobs


@cache
def neutral_knobs() -> Mapping[str, Any]:
    """The knobs and their defaults; the markers among them are those of all model families."""
    return {
        "interleaved": False,
        "framing": "sse",  # each dialect has its own: what its streams fall into
        "standard_streams": False,  # whether a dialect is that of a command, and not of HTTP
        **marker_knobs(),
    }
