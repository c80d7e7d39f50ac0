"""The lines of `opencode run --format json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.opencode_run.agent import AGENT, REQUEST
from conformance.dialects.opencode_run.reader import NAME, VOCABULARY, RunReader, recognises
from conformance.dialects.wire_keys import WireKeys

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=RunReader,
    recognises=recognises,
    framing="lines",
    keys=WireKeys(
        texts=("text",),
        shown=("text",),
        words=("type", "status", "reason"),
        free=("input", "output", "metadata"),
    ),
    request=REQUEST,
    is_application=True,
    agent=AGENT,
    carries_opaque=False,
    unit="run",
)
