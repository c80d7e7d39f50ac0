"""The event stream of Opal."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.opal_rpc.columns import delta_columns
from conformance.dialects.opal_rpc.reader import NAME, VOCABULARY, OpalReader, recognises
from conformance.dialects.opal_rpc.wire_keys import WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=OpalReader,
    recognises=recognises,
    columns=delta_columns,
    framing="lines",
    keys=WIRE_KEYS,
    unit="run",
    tells_reasons=False,
)
