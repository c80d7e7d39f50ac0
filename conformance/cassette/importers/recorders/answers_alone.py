"""Recorders that keep an answer, or its payloads, without the request: a row each.

Shapes are those of Saloon for PHP (`RecordedResponse.php`), of fixtures of matteing/opal, and of
gemini-cli (`fakeContentGenerator.ts`).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from conformance.cassette.importers.recorders.row import Recorder

_answer_alone: Final = partial(Recorder, url="", method="", asked={})

ANSWERS_ALONE: Final = (
    _answer_alone(
        name="saloon",
        says="a fixture that Saloon for PHP recorded: `statusCode`, `headers` and `data`",
        needs=("statusCode", "headers", "data"),
        asked_headers="",
        status="statusCode",
        headers="headers",
        body={"data": "json"},
        note="Saloon keeps no request, chunks or times",
    ),
    _answer_alone(
        name="answer-alone",
        says="one answer as an object: `status`, `headers` and `body`",
        needs=("status", "headers.content-type | headers.Content-Type", "body"),
        status="status",
        headers="headers",
        body={"body": "text"},
        note="the file keeps no request, chunks or times",
    ),
    _answer_alone(
        name="opal",
        says="a fixture of Opal: payloads as JSON inside strings",
        status="",
        payloads={"events[].data": "text"},
        recorded_at="recorded_at",
        described="description",
        note="an Opal fixture keeps payloads: no request, head, chunks or times",
    ),
    _answer_alone(
        name="gemini-cli",
        says="responses that gemini-cli recorded (`--record-responses`), one call a line",
        form="lines",
        suffixes=(".responses", ""),
        needs=("method", "response"),
        status="",
        payloads={"response[]": "value"},
        body={"response": "json"},
        note="gemini-cli keeps objects of an SDK: no request, head, framing or times",
    ),
)
