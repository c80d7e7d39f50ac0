"""Results of batches, one answer a line: each is judged as the body of an answer by itself.

Shapes are those of the providers: the output file of OpenAI's Batch API (Azure, Mistral and others
have it, too), the results of Anthropic's Message Batches, the output of Gemini's Batch API and of
Vertex AI, and that of Bedrock's batch inference.
"""

from __future__ import annotations

from typing import Final

from conformance.cassette.importers.recorders.row import Recorder

_SUFFIXES: Final = (".jsonl", ".jsonl.out", ".json", ".txt", "")
_NOTE: Final = "results of a batch keep values: no head, chunks or times"
_HINT: Final = "a batch keeps no answer where it was canceled or expired"

BATCHES: Final = (
    Recorder(
        name="openai-batch",
        says="the output of a batch of OpenAI, Azure or Mistral, an answer a line",
        form="lines",
        suffixes=_SUFFIXES,
        marks=(r'"custom_id"\s*:', r'"response"\s*:'),
        needs=("custom_id", "response.status_code", "response.body"),
        method="",
        url="",
        asked={},
        asked_headers="",
        status="response.status_code",
        headers="",
        body={"response.body": "json"},
        note=_NOTE,
        hint=_HINT,
    ),
    Recorder(
        name="anthropic-batch",
        says="the results of a Message Batch of Anthropic, an answer a line",
        form="lines",
        suffixes=_SUFFIXES,
        marks=(r'"custom_id"\s*:', r'"result"\s*:'),
        needs=("custom_id", "result.type", "result.message | result.error"),
        method="",
        url="",
        asked={},
        asked_headers="",
        status="",
        headers="",
        body={"result.message": "json", "result.error": "json"},
        note=_NOTE,
        hint=_HINT,
    ),
    Recorder(
        name="vertex-batch",
        says="the output of a batch of Gemini on Vertex AI, with the requests",
        form="lines",
        suffixes=_SUFFIXES,
        marks=(r'^\s*\{\s*"(?:status|request|response|processed_time)"\s*:', r'"candidates"\s*:'),
        needs=("request.contents", "response.candidates"),
        method="",
        url="",
        asked={"request": "json"},
        asked_headers="",
        status="",
        headers="",
        body={"response": "json"},
        note=_NOTE,
        hint=_HINT,
    ),
    Recorder(
        name="gemini-batch",
        says="the output of a batch of Gemini, an answer a line",
        form="lines",
        suffixes=_SUFFIXES,
        marks=(r'^\s*\{\s*"(?:key|response|error)"\s*:', r'"key"\s*:'),
        needs=("key", "response.candidates | response.promptFeedback"),
        method="",
        url="",
        asked={},
        asked_headers="",
        status="",
        headers="",
        body={"response": "json"},
        note=_NOTE,
        hint=_HINT,
    ),
    Recorder(
        name="bedrock-batch",
        says="the output of a batch of Bedrock, with the requests",
        form="lines",
        suffixes=_SUFFIXES,
        marks=(r'^\s*\{\s*"(?:recordId|modelInput|modelOutput)"\s*:', r'"modelOutput"\s*:'),
        needs=("recordId", "modelInput", "modelOutput"),
        method="",
        url="",
        asked={"modelInput": "json"},
        asked_headers="",
        status="",
        headers="",
        body={"modelOutput": "json"},
        note=_NOTE,
        hint=_HINT,
    ),
)
