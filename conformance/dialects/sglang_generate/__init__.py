"""SGLang's own `/generate`: the text so far, again and again."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.sglang_generate.reader import (
    BOUNDS,
    NAME,
    VOCABULARY,
    WIRE_KEYS,
    GrowingTextReader,
    is_answer,
    recognises,
)
from conformance.dialects.wire_keys import SseEnvelope

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=GrowingTextReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    envelope=SseEnvelope(finishes=is_answer),
    bounds=BOUNDS,
    carries_opaque=False,
    tells_parts=False,
    counts_within=True,
)
