"""The Converse API of Amazon Bedrock."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.bedrock_converse.knob_signs import ConverseKnobs
from conformance.dialects.bedrock_converse.reader import (
    NAME,
    VOCABULARY,
    ConverseReader,
    recognises,
)
from conformance.dialects.bedrock_converse.requests import REQUEST, TURNS
from conformance.dialects.bedrock_converse.script import SCRIPT
from conformance.dialects.bedrock_converse.wire_keys import BOUNDS, WIRE_KEYS
from conformance.dialects.client_cases import ClientCases, message_at
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
    turns=TURNS,
    client=ClientCases(
        message_at("output", "message"),
        effort_paths=(
            "outputConfig.effort",
            "additionalModelRequestFields.reasoning_effort",
            "additionalModelRequestFields.reasoning_config",
            "additionalModelRequestFields.thinking",
        ),
    ),
    script=SCRIPT,
)
