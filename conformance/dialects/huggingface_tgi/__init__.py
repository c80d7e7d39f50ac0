"""Text Generation Inference: the tokens of its own `/generate_stream`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.endpoint import Endpoint, ModelListing
from conformance.dialects.huggingface_tgi.reader import (
    BOUNDS,
    NAME,
    VOCABULARY,
    WIRE_KEYS,
    TokenReader,
    recognises,
)
from conformance.dialects.huggingface_tgi.requests import REQUEST
from conformance.dialects.huggingface_tgi.script import SCRIPT

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=TokenReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    bounds=BOUNDS,
    endpoint=Endpoint(
        *("tgi", "/generate"),
        base="",
        stream_path="/generate_stream",
        never_below="/api/",
        only_named=True,
    ),
    models=ModelListing("/models"),
    request=REQUEST,
    script=SCRIPT,
    carries_opaque=False,
    tells_parts=False,
)
