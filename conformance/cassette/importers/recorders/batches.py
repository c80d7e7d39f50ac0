"""Results of batches and logs of calls, one answer a line: each is a body, judged by itself.

Shapes are those of the providers: the output file of OpenAI's Batch API (Azure, Mistral and others
have it, too), the results of Anthropic's Message Batches, the output of Gemini's Batch API and of
Vertex AI, and that of Bedrock's batch inference; and of claude-tap (`proxy.py`, `ws_proxy.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from conformance.cassette.importers.recorders.row import Recorder
from conformance.cassette.importers.recorders.table import PAIR

_batch = partial(
    Recorder,
    form="lines",
    suffixes=(".jsonl", ".jsonl.out", ".json", ".txt", ""),
    method="",
    url="",
    asked={},
    asked_headers="",
    status="",
    headers="",
    note="results of a batch keep values: no head, chunks or times",
    hint="a batch keeps no answer where it was canceled or expired",
)

BATCHES: Final = (
    _batch(
        name="openai-batch",
        says="the output of a batch of OpenAI, Azure or Mistral, an answer a line",
        marks=(r'"custom_id"\s*:', r'"response"\s*:'),
        needs=("custom_id", "response.status_code", "response.body"),
        status="response.status_code",
        body={"response.body": "json"},
    ),
    _batch(
        name="anthropic-batch",
        says="the results of a Message Batch of Anthropic, an answer a line",
        marks=(r'"custom_id"\s*:', r'"result"\s*:'),
        needs=("custom_id", "result.type", "result.message | result.error"),
        body={"result.message": "json", "result.error": "json"},
    ),
    _batch(
        name="vertex-batch",
        says="the output of a batch of Gemini on Vertex AI, with the requests",
        marks=(r'^\s*\{\s*"(?:status|request|response|processed_time)"\s*:', r'"candidates"\s*:'),
        needs=("request.contents", "response.candidates"),
        asked={"request": "json"},
        body={"response": "json"},
    ),
    _batch(
        name="gemini-batch",
        says="the output of a batch of Gemini, an answer a line",
        marks=(r'^\s*\{\s*"(?:key|response|error)"\s*:', r'"key"\s*:'),
        needs=("key", "response.candidates | response.promptFeedback"),
        body={"response": "json"},
    ),
    _batch(
        name="bedrock-batch",
        says="the output of a batch of Bedrock, with the requests",
        marks=(r'^\s*\{\s*"(?:recordId|modelInput|modelOutput)"\s*:', r'"modelOutput"\s*:'),
        needs=("recordId", "modelInput", "modelOutput"),
        asked={"modelInput": "json"},
        body={"modelOutput": "json"},
    ),
    Recorder(
        name="claude-tap",
        says="a trace of claude-tap, a call a line, its events one by one",
        form="lines",
        suffixes=(".jsonl", ""),
        marks=(r'"duration_ms"\s*:', r'"request"\s*:\s*\{', r'"response"\s*:\s*\{'),
        needs=("turn", "request.method", "request.path", "response.status"),
        url="request.path",
        server="upstream_base_url",
        asked={"request.body": "json"},
        payloads={"response.sse_events[].data": "value"},
        messages="request.ws_events | request.body, response.ws_events",
        body={"response.body": "json"},
        note="claude-tap keeps payloads: framing, chunks and times are rebuilt",
    ),
    Recorder(
        name="pair-lines",
        says="a request with the body of its answer a line, as Helicone exports them",
        form="lines",
        suffixes=(".jsonl", ".ndjson"),  # one value in a .json file is one of `pairs`
        marks=(
            r'"(?:request|request_body|messages)"\s*:',
            r'"(?:response|response_body)"\s*:\s*\{',
        ),
        **PAIR,
    ),
)
