"""The recorders whose files are read, a row each; `row.py` says what a row may say.

Shapes are those of the programs themselves: har-1.2-spec, vcrpy, go-vcr (3, 4), VCR of Ruby (6),
ropensci/vcr (`serialize-body.R`), langchain-tests (`conftest.py`), nock (`lib/recorder.js`),
WireMock's stub mappings, the test proxy of Azure's SDKs (`RecordEntry.cs`), Polly.js
(`persister/har`), anthropic-sdk-python (`tests/conftest.py`), dd-apm-test-agent (`vcr_proxy.py`),
req_llm (`test/support/transcript.ex`), talkcody (`llm/testing/recorder.rs`), Mastra's recorder
over MSW (`llm-recorder.ts`), pi of Rust (`vcr.rs`), Instructor for PHP, ccproxy, test-server of
Google (`internal/store`), seinfeld of Braintrust, httpmock of Rust (`data.rs`), httprr and txtar
of Go; those of answers alone have a separate module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.cassette.importers.recorders.answers_alone import ANSWERS_ALONE
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
_PAIR_ASKED: Final = (
    "request.messages | request.contents | request.input | request_body.messages"
    " | request_body.contents | request_body.input | messages"
)
_PAIR_SAID: Final = (
    "response.choices | response.content | response.candidates | response.output"
    " | response_body.choices | response_body.content | response_body.candidates"
    " | response_body.output"
)
PAIR: Final[Mapping[str, Any]] = {
    "needs": (_PAIR_ASKED, _PAIR_SAID),
    "method": "",
    "url": "",
    "asked": {"request": "json", "request_body": "json"},
    "asked_headers": "",
    "status": "response_status",
    "headers": "",
    "body": {"response": "json", "response_body": "json"},
    "note": "pairs keep values: no heads, framing, chunks or times",
}
"""What LiteLLM, OpenHands and Helicone log of a call, and what programs write like it."""
_YAML_OR_JSON: Final = (".yaml", ".yml", ".json")
_NO_CHUNKS: Final = "VCR keeps neither chunks nor times"

ROWS: Final = (
    Recorder(
        name="har",
        says="an HTTP archive of a browser, a proxy or Polly.js; other APIs are skipped",
        suffixes=(".har", ".json", ""),
        marks=(r'^(?:\xef\xbb\xbf)?\s*(?:\{\s*"log"\s*:\s*\{|log:[ \t]*\r?\n)',),
        expects="a HAR file: an object `log` with a list `entries`",
        entries="log.entries",
        asked={"request.postData.text": "misread-text", "request.postData.textJSON": "json"},
        http="response.httpVersion",
        mime="response.content.mimeType",
        body={"response.content.text": "misread-text", "response.content.textJSON": "json"},
        codings_by={
            "response.content.encoding=base64": "base64",
            "response.content._isBinary=true": "hex",
        },
        messages="_webSocketMessages",
        empty_is_lost=True,
        sent="startedDateTime",
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
        name="pi-rust",
        says="a cassette of the agent pi in Rust, chunk by chunk",
        entries="interactions",
        needs=("request.url", "response.body_chunks | response.body_chunks_base64"),
        chunks={
            "response.body_chunks_base64[]": "base64",
            "response.body_chunks[]": "text",
        },
        body={"response.body": "text"},
        recorded_at="recorded_at",
    ),
    Recorder(
        name="vcr",
        says="a cassette of vcrpy and tools like it, also of aiohttp and go-vcr",
        suffixes=_YAML_OR_JSON,
        marks=(r'(?m)^interactions:|"interactions"\s*:\s*\[',),
        expects="a VCR cassette with `interactions`",
        entries="interactions",
        needs=("request | response",),
        status=_VCR_STATUS,
        asked=_VCR_ASKED,
        body=_VCR_BODY,
        empty_is_lost=True,
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
        codings_by={"response.body.kind=base64": "base64"},
        elsewhere="response.body.path",
        recorded_at="meta.createdAt",
    ),
    Recorder(
        name="instructor-php",
        says="a recording of the HTTP client of Instructor for PHP, chunk by chunk",
        needs=("request.url", "request.options", "response.statusCode"),
        status="response.statusCode",
        chunks={"chunks[]": "text"},
        body={"response.body": "text"},
    ),
    Recorder(
        name="ccproxy",
        says="a sample of an endpoint that ccproxy recorded, its events one by one",
        needs=("endpoint", "request.payload", "response.status_code"),
        method="",
        url="endpoint",
        asked={"request.payload": "json"},
        status="response.status_code",
        payloads={"response.events[].data": "text"},
        body={"response.body": "json"},
        note="ccproxy keeps payloads: framing, chunks and times are rebuilt",
    ),
    Recorder(
        name="talkcody",
        says="a fixture that talkcody recorded, its events one by one",
        needs=("provider_id", "request.url", "response.sse_events"),
        asked={"request.body": "json"},
        payloads={"response.sse_events[].data": "text"},
        note="talkcody keeps payloads: framing, chunks and times are rebuilt",
    ),
    Recorder(
        name="req-llm",
        says="a fixture of req_llm for Elixir: chunks in base64",
        needs=("captured_at | request.canonical_json", "request.url", "response.status"),
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
        name="http-snapshot",
        says="a list of exchanges that inline-snapshot keeps, as anthropic-sdk-python has them",
        needs=("request.method", "request.url", "response.status_code", "response.body"),
        asked={"request.body": "json"},
        status="response.status_code",
        body={"response.body": "json"},
        note="the snapshot keeps neither chunks nor times",
    ),
    Recorder(
        name="datadog",
        says="a cassette of Datadog's test agent (ddapm-test-agent)",
        needs=("request.url", "response.status.code"),
        asked={"request.body": "marked"},
        body={"response.body": "marked"},
    ),
    Recorder(
        name="azure-test-proxy",
        says="a session record of the test proxy of Azure's SDKs, as openai-dotnet has them",
        entries="Entries",
        needs=("RequestUri", "RequestMethod", "ResponseHeaders"),
        method="RequestMethod",
        url="RequestUri",
        asked={"RequestBody": "text-lines"},
        asked_headers="RequestHeaders",
        status="StatusCode",
        headers="ResponseHeaders",
        body={"ResponseBody": "text-lines"},
        note="the test proxy keeps neither chunks nor times",
    ),
    Recorder(
        name="wiremock",
        says="a stub mapping of WireMock with its body, or `mappings` of several",
        suffixes=_YAML_OR_JSON,
        marks=(
            r"(?m)^(?:- )?\s*request:\s*$",
            r"(?m)^\s*response:\s*$",
            r"(?m)^\s*(?:base64Body|jsonBody|body):",
        ),
        entries="mappings | ",
        needs=(
            "request",
            "response.status",
            "response.base64Body | response.jsonBody | response.body | response.bodyFileName",
        ),
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
        name="httpmock",
        says="a recording of httpmock for Rust: `when` and `then`, a document for each request",
        form="documents",
        suffixes=(".yaml", ".yml"),
        marks=(r"(?m)^when:\s*$", r"(?m)^then:\s*$"),
        needs=("when.path", "then.status"),
        method="when.method",
        url="when.path",
        asked={"when.body": "text"},
        asked_headers="when.header",
        status="then.status",
        headers="then.header",
        body={"then.body_base64": "base64", "then.body": "text"},
        note="httpmock keeps neither the server nor chunks and times",
    ),
    *ANSWERS_ALONE,
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
    Recorder(
        name="batch-state",
        says="the state of a batch that ellmer for R or chatlas keeps, with its results",
        entries="results",
        needs=(
            "status_code | type",
            "body.choices | body.output | body.candidates | message.content",
        ),
        method="",
        url="",
        asked={},
        asked_headers="",
        status="status_code",
        headers="",
        body={"body": "json-of-r", "message": "json-of-r"},
        note="results of a batch keep values: no head, chunks or times",
    ),
    Recorder(
        name="inspect",
        says="a log of inspect_ai: what its calls of a model sent and got",
        form="inspect",
        suffixes=(".eval", ".json"),
        marks=(r'^(?:PK\x03\x04|\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"(?:status|eval)"\s*:)',),
        needs=("request", "response"),
        url="",
        method="",
        asked={"request": "json"},
        asked_headers="",
        status="",
        headers="",
        body={"response": "json"},
        note="inspect_ai keeps objects of SDKs: no heads, framing, chunks or times",
        hint="its provider keeps no calls",
    ),
    Recorder(
        name="insta",
        says="a snapshot of insta for Rust: a stream as text",
        form="insta",
        suffixes=(".snap",),
        marks=(r"^---\r?\n(source|expression|description): ",),
        url="",
        method="",
        asked={},
        status="",
        body={"response.body": "text"},
        note="insta keeps what a test saw: no request, head or times",
    ),
    Recorder(name="pairs", says="requests with the bodies of their answers", **PAIR),
)
"""In the order in which they are tried."""
