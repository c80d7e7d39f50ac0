"""The Converse API of Amazon Bedrock."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.bedrock_converse.client_cases import CLIENT_CASES
from conformance.dialects.bedrock_converse.knob_signs import ConverseKnobs
from conformance.dialects.bedrock_converse.reader import (
    NAME,
    VOCABULARY,
    ConverseReader,
    recognises,
)
from conformance.dialects.bedrock_converse.requests import REQUEST
from conformance.dialects.bedrock_converse.script import SCRIPT
from conformance.dialects.bedrock_converse.wire_keys import BOUNDS, WIRE_KEYS
from conformance.dialects.endpoint import Endpoint

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ConverseReader,
    recognises=recognises,
    framing="binary",
    keys=WIRE_KEYS,
    bounds=BOUNDS,
    knobs=ConverseKnobs,
    endpoint=Endpoint(
        "bedrock",
        "/model/{model}/converse",
        base="",
        stream_path="/model/{model}/converse-stream",
    ),
    request=REQUEST,
    client=CLIENT_CASES,
    script=SCRIPT,
    mutation="conformance.dialects.bedrock_converse.mutation",
)
