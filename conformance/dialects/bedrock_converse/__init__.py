"""The Converse API of Amazon Bedrock."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.bedrock_converse.knob_signs import ConverseKnobs
from conformance.dialects.bedrock_converse.reader import ConverseReader
from conformance.dialects.client_cases import ClientCases, message_at
from conformance.dialects.endpoint import Endpoint

DIALECT: Final = Dialect(
    **facets(__name__, "wire_keys", "requests", "script"),
    reader=ConverseReader,
    framing="binary",
    knobs=ConverseKnobs,
    endpoint=Endpoint(
        "bedrock",
        "/model/{model}/converse",
        base="",
        stream_path="/model/{model}/converse-stream",
    ),
    client=ClientCases(
        message_at("output", "message"),
        effort_paths=(
            "outputConfig.effort",
            "additionalModelRequestFields.reasoning_effort",
            "additionalModelRequestFields.reasoning_config",
            "additionalModelRequestFields.thinking",
        ),
    ),
)
