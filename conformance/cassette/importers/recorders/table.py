"""The recorders whose files are read, a row each; `row.py` says what a row may say.

Shapes are those of the programs themselves: har-1.2-spec, vcrpy, go-vcr (3, 4), VCR of Ruby (6),
ropensci/vcr (`serialize-body.R`), langchain-tests (`conftest.py`), nock (`lib/recorder.js`),
WireMock's stub mappings, Polly.js (`persister/har`), dd-apm-test-agent (`vcr_proxy.py`), req_llm
(`test/support/transcript.ex`), Mastra's recorder over MSW (`llm-recorder.ts`), gemini-cli
(`fakeContentGenerator.ts`), test-server of Google (`internal/store`), seinfeld of Braintrust,
httprr and txtar of Go, and fixtures of matteing/opal.
"""

from __future__ import annotations

from typing import Final

from conformance.cassette.importers.recorders.row import Recorder

_VCR_BODY: Final = {
    "response.body.base64_string": "base64",
    "response.body.string": "text",
    "response.content.base64_string": "base64",
    "response.content.string": "text",
    "response.content": "text",
    "response.body": "text",
    "response.parsed_body": "json",
}
_VCR_ASKED: Final = {
    "request.parsed_body": "json",
    "request.body.base64_string": "base64",
    "request.body.string": "text",
    "request.body": "text",
}
_VCR_STATUS: Final = (
    "response.status.code | response.status.status_code | response.code | response.status"
    " | response.status_code"
)
_YAML_OR_JSON: Final = (".yaml", ".yml", ".json")
_NO_CHUNKS: Final = "VCR keeps neither chunks nor times"

ROWS: Final = (
    Recorder(
        name="har",
        says="an HTTP archive of a browser, a proxy or Polly.js; other APIs are skipped",
        suffixes=(".har", ".json", ""),
        marks=(r'^(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{',),
        expects="a HAR file: an object `log` with a list `entries`",
        entries="log.entries",
        asked={"request.postData.text": "misread-text"},
        http="response.httpVersion",
        mime="response.content.mimeType",
        body={"response.content.text": "misread-text"},
        codings_by={
            "response.content.encoding=base64": "base64",
            "response.content._isBinary=true": "hex",
        },
        messages="_webSocketMessages",
        empty_is_lost=True,
        waited="timings.wait",
        failed="response._error",
        made_by="log.creator",
        recorded_at="log.entries.0.startedDateTime",
        hint="save the archive with contents, while the developer tools are open",
    ),
    Recorder(
        name="google-test-server",
        says="a recording of Google's test-server, as js-genai has them",
        entries="interactions",
        needs=("request.bodySegments", "response.statusCode"),
        asked={"request.bodySegments.0": "json"},
        status="response.statusCode",
        payloads={"response.bodySegments[]": "value"},
        body={"response.bodySegments.0": "json"},
        note="Google's test-server keeps values: framing and chunks are rebuilt",
    ),
    Recorder(
        name="vcr",
        says="a cassette of vcrpy and its kin, of aiohttp and of go-vcr, too",
        suffixes=_YAML_OR_JSON,
        marks=(r'(?m)^interactions:|"interactions"\s*:\s*\[',),
        expects="a VCR cassette with `interactions`",
        entries="interactions",
        status=_VCR_STATUS,
        asked=_VCR_ASKED,
        body=_VCR_BODY,
        note=_NO_CHUNKS,
    ),
    Recorder(
        name="ruby-vcr",
        says="a cassette of VCR for Ruby, or of vcr for R (`http_interactions`)",
        suffixes=_YAML_OR_JSON,
        marks=(r'(?m)^http_interactions:|"http_interactions"\s*:\s*\[',),
        entries="http_interactions",
        status=_VCR_STATUS,
        asked=_VCR_ASKED,
        body=_VCR_BODY,
        made_by="recorded_with",
        elsewhere="response.body.file",
        note=_NO_CHUNKS,
    ),
    Recorder(
        name="langchain-tests",
        says="a cassette of langchain-tests: `requests` and `responses`, side by side",
        suffixes=_YAML_OR_JSON,
        marks=(
            r'(?m)^requests:\s*$|"requests"\s*:\s*\[',
            r'(?m)^responses:\s*$|"responses"\s*:\s*\[',
        ),
        entries="requests, responses",
        status=_VCR_STATUS,
        asked=_VCR_ASKED,
        body=_VCR_BODY,
        note=_NO_CHUNKS,
    ),
    Recorder(
        name="nock",
        says="what nock recorded for Node.js, with `output_objects`",
        needs=("scope", "path", "response"),
        method="method",
        url="path",
        server="scope",
        asked={"body": "hex-pieces"},
        asked_headers="reqheaders",
        status="status",
        headers="rawHeaders | headers",
        body={"response": "hex-pieces"},
        codings_by={"responseIsBinary=true": "hex"},
    ),
    Recorder(
        name="mastra",
        says="a recording of Mastra's recorder over MSW, chunk by chunk",
        entries="recordings | ",
        needs=("hash", "request.url", "response.status"),
        asked={"request.body": "json"},
        chunks={"response.chunks[]": "text"},
        times="response.chunkTimings",
        body={"response.body": "json"},
        recorded_at="meta.createdAt",
    ),
    Recorder(
        name="seinfeld",
        says="a cassette of seinfeld (Braintrust), with the events of a stream one by one",
        entries="entries",
        needs=("matchKey", "request.url", "response.status"),
        asked={"request.body.value": "json"},
        chunks={"response.body.chunks[]": "sse-event"},
        body={"response.body.value": "json"},
        elsewhere="response.body.path",
        recorded_at="meta.createdAt",
    ),
    Recorder(
        name="req-llm",
        says="a fixture of req_llm for Elixir: chunks in base64",
        needs=("captured_at", "request.url", "response.status"),
        asked={
            "request.canonical_json": "json",
            "request.body.canonical_json": "json",
            "request.body.b64": "base64",
        },
        chunks={"chunks[].b64": "base64"},
        body={"response.body.b64": "base64", "response.body": "json"},
        recorded_at="captured_at",
    ),
    Recorder(
        name="datadog",
        says="a cassette of Datadog's test agent (ddapm-test-agent)",
        needs=("request.url", "response.status.code"),
        asked={"request.body": "marked"},
        body={"response.body": "marked"},
    ),
    Recorder(
        name="wiremock",
        says="a stub mapping of WireMock with its body, or `mappings` of several",
        entries="mappings | ",
        needs=("request", "response.status"),
        url="request.url | request.urlPath | request.urlPattern | request.urlPathPattern",
        asked={},
        asked_headers="",
        body={
            "response.base64Body": "base64",
            "response.jsonBody": "json",
            "response.body": "text",
        },
        elsewhere="response.bodyFileName",
    ),
    Recorder(
        name="opal",
        says="a fixture of Opal: payloads as JSON inside strings",
        url="",
        asked={},
        status="",
        payloads={"events[].data": "text"},
        recorded_at="recorded_at",
        described="description",
        note="an Opal fixture keeps payloads: no request, head, chunks or times",
    ),
    Recorder(
        name="gemini-cli",
        says="responses that gemini-cli recorded (`--record-responses`), one call a line",
        form="lines",
        suffixes=(".responses", ""),
        needs=("method", "response"),
        url="",
        method="",
        asked={},
        status="",
        payloads={"response[]": "value"},
        body={"response": "json"},
        note="gemini-cli keeps objects of an SDK: no request, head, framing or times",
    ),
    Recorder(
        name="httprr",
        says="a trace of httprr for Go: requests and responses as HTTP/1 writes them",
        form="httprr",
        suffixes=(".httprr", ""),
        marks=(r"^httprr trace v1\n",),
        asked={"request.body": "text"},
        http="response.http",
        body={"response.body": "text"},
    ),
    Recorder(
        name="txtar",
        says="an archive of texts for Go (txtar): each section that holds an answer",
        form="txtar",
        suffixes=(".txtar", ".txt", ""),
        marks=(r"(?m)^-- [^\n]{1,200} --\r?$",),
        url="",
        method="",
        asked={"request.body": "json"},
        status="",
        body={"response.body": "text"},
    ),
)
"""In the order in which they are tried."""
