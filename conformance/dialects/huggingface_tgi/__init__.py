"""Text Generation Inference: the tokens of its own `/generate_stream`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.huggingface_tgi.reader import (
    BOUNDS,
    NAME,
    VOCABULARY,
    WIRE_KEYS,
    TokenReader,
    recognises,
)

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=TokenReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    bounds=BOUNDS,
    carries_opaque=False,
    tells_parts=False,
)
