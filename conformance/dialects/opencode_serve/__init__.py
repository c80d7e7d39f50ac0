"""The event bus of `opencode serve`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.opencode_serve.reader import BusReader, recognises
from conformance.dialects.opencode_serve.vocabulary import COLUMNS, NAME, VOCABULARY, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=BusReader,
    recognises=recognises,
    columns=COLUMNS,
    keys=WIRE_KEYS,
    is_application=True,
    carries_opaque=False,
    unit="turn",
)
