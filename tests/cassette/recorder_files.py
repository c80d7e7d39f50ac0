"""Files as recorders of other people write them: one small stream, in the shape of each."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from string import Template
from typing import Any, Final

from tests.cassette.saved_files import CHUNK, LAST, archive, as_event, entry

FOLDER: Final = Path(__file__).with_name("recorders")
STREAM: Final = as_event(CHUNK) + as_event(LAST) + as_event("[DONE]")
URL: Final = "https://api.example.test/v1/chat/completions"
TYPE: Final = "text/event-stream"
_ASKED: Final = json.dumps({"model": "m", "stream": True})
_PIECES: Final = (as_event(CHUNK), as_event(LAST) + as_event("[DONE]"))
GEMINI: Final = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def interaction(url: str = URL, body: Any = None, **status: Any) -> dict[str, Any]:
    """One of VCR's."""
    return {
        "request": {"method": "post", "uri": url, "body": _ASKED, "headers": {}},
        "response": {
            "status": {"code": 200, "message": "OK", **status},
            "headers": {"Content-Type": [TYPE]},
            "body": {"string": STREAM} if body is None else body,
        },
    }


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}" for line in text.splitlines(keepends=True))


def filled(name: str) -> str:
    """A file of YAML; a line `$STREAM` stands for the stream, indented as that line."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^( *)\$STREAM\n", lambda m: indented(STREAM, len(m[1])), text)
    given = {"URL": URL, "TYPE": TYPE, "ASKED": _ASKED, "PACKED": packed(STREAM)}
    return Template(text).substitute(given, QUOTED=json.dumps(STREAM))


RUBY: Final = filled("ruby-vcr.yaml")
R_VCR: Final = filled("r-vcr.yaml")
GO_VCR: Final = filled("go-vcr.yaml")
HTTPMOCK: Final = filled("httpmock.yaml")
LANGCHAIN: Final = filled("langchain.yaml")
ISTR: Final = filled("vcr-multidict.yaml")
NOCK: Final = {
    "scope": "https://api.example.test:443",
    "method": "POST",
    "path": "/v1/chat/completions",
    "body": {"model": "m", "stream": True},
    "status": 200,
    "response": STREAM,
    "rawHeaders": ["content-type", TYPE],
    "responseIsBinary": False,
}
MASTRA: Final[dict[str, Any]] = {
    "hash": "0123456789abcdef",
    "request": {"url": URL, "method": "POST", "body": {"model": "m"}, "timestamp": 1},
    "response": {
        "status": 200,
        "statusText": "OK",
        "headers": {"content-type": TYPE},
        "chunks": list(_PIECES),
        "chunkTimings": [12, 3],
        "isStreaming": True,
    },
}
SEINFELD: Final = {
    "id": "0123456789abcdef",
    "matchKey": "POST api.example.test/v1/chat/completions",
    "request": {
        "body": {"kind": "json", "value": {"model": "m", "stream": True}},
        "headers": {},
        "method": "POST",
        "url": URL,
    },
    "response": {
        "body": {"kind": "sse", "chunks": STREAM.removesuffix("\n\n").split("\n\n")},
        "headers": {"content-type": TYPE},
        "status": 200,
    },
}
INSTRUCTOR_PHP: Final = {
    "request": {"url": URL, "method": "POST", "headers": {}, "body": _ASKED, "options": {}},
    "response": {"statusCode": 200, "headers": {"content-type": [TYPE]}},
    "chunks": list(_PIECES),
}
CCPROXY: Final = {
    "endpoint": "/v1/chat/completions",
    "model": "m",
    "request": {"payload": {"model": "m", "stream": True}},
    "response": {
        "mode": "stream",
        "status_code": 200,
        "headers": {"content-type": TYPE},
        "events": [
            {"data": json.dumps(CHUNK), "json": CHUNK},
            {"data": json.dumps(LAST), "json": LAST},
            {"data": "[DONE]"},
        ],
    },
}
TALKCODY: Final = {
    "version": 1,
    "provider_id": "p",
    "model": "m",
    "request": {"method": "POST", "url": URL, "headers": {}, "body": {"model": "m"}},
    "response": {
        "type": "stream",
        "status": 200,
        "headers": {"content-type": TYPE},
        "sse_events": [
            {"event": None, "data": json.dumps(CHUNK)},
            {"event": None, "data": json.dumps(LAST)},
            {"event": None, "data": "[DONE]"},
        ],
    },
}
WIREMOCK_YAML: Final = filled("wiremock.yaml")


def _pi_rust(**chunks: list[str]) -> dict[str, Any]:
    return {
        "version": "1.0",
        "interactions": [
            {
                "request": {"method": "POST", "url": URL, "headers": [["accept", TYPE]]},
                "response": {"status": 200, "headers": [["Content-Type", TYPE]], **chunks},
            }
        ],
    }


PI_RUST: Final = _pi_rust(body_chunks=list(_PIECES))
PACKED_PI_RUST: Final = _pi_rust(body_chunks=[], body_chunks_base64=[packed(e) for e in _PIECES])
PACKED_SEINFELD: Final = {
    **SEINFELD,
    "response": {
        "headers": {"content-type": TYPE},
        "status": 200,
        "body": {"kind": "base64", "contentType": TYPE, "value": packed(STREAM)},
    },
}
TEST_SERVER: Final[dict[str, Any]] = {
    "request": {
        "method": "POST",
        "url": "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        "headers": {"Content-Type": "application/json"},
        "bodySegments": [{"contents": []}],
    },
    "response": {
        "statusCode": 200,
        "headers": {"Content-Type": TYPE},
        "bodySegments": [GEMINI],
    },
}
REQ_LLM: Final = {
    "captured_at": "2025-10-14T17:26:38Z",
    "chunks": [{"b64": packed(each)} for each in _PIECES],
    "request": {"method": "POST", "url": URL, "headers": {}, "canonical_json": {"model": "m"}},
    "response": {"status": 200, "headers": {"content-type": [TYPE]}, "body": None},
}
EARLY_REQ_LLM: Final = {
    "request": REQ_LLM["request"],
    "response": {"status": 200, "headers": {"content-type": [TYPE]}, "body": STREAM},
}
HTTP_SNAPSHOT: Final = {
    "request": {"method": "POST", "url": URL, "headers": {}, "body": json.loads(_ASKED)},
    "response": {"status_code": 200, "headers": {"content-type": TYPE}, "body": STREAM},
}
SALOON: Final = {"statusCode": 200, "headers": {"Content-Type": TYPE}, "data": STREAM}
DATADOG: Final = {
    "request": {"method": "POST", "url": URL, "headers": {}, "body": _ASKED},
    "response": {
        "status": {"code": 200, "message": "OK"},
        "headers": {"Content-Type": TYPE},
        "body": STREAM,
    },
}
TEST_PROXY: Final = {
    "RequestUri": URL,
    "RequestMethod": "POST",
    "RequestHeaders": {"Content-Type": "application/json"},
    "RequestBody": json.loads(_ASKED),
    "StatusCode": 200,
    "ResponseHeaders": {"Content-Type": TYPE},
    "ResponseBody": STREAM.splitlines(keepends=True),
}
ALONE: Final = {"status": 200, "headers": {"content-type": TYPE}, "body": STREAM}
WIREMOCK: Final = {
    "request": {"method": "POST", "urlPath": "/v1/chat/completions"},
    "response": {"status": 200, "body": STREAM, "headers": {"Content-Type": TYPE}},
}
_SENT: Final = f"POST {URL} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(_ASKED)}\r\n\r\n{_ASKED}"
_CAME: Final = f"HTTP/2.0 200 OK\r\nContent-Type: {TYPE}\r\n\r\n{STREAM}"
HTTPRR: Final = f"httprr trace v1\n{len(_SENT)} {len(_CAME)}\n{_SENT}{_CAME}"
TXTAR: Final = f"A comment.\n-- request --\n{_ASKED}\n-- streaming --\n{STREAM}-- notes --\nNone.\n"
RESPONSES: Final = "".join(
    json.dumps(each) + "\n"
    for each in (
        {"method": "countTokens", "response": {"totalTokens": 5}},
        {"method": "generateContentStream", "response": [GEMINI]},
        {"method": "generateContent", "response": GEMINI},
    )
)
OPAL: Final = {
    "description": "a",
    "events": [{"data": json.dumps(CHUNK)}, {"data": json.dumps(LAST)}],
    "recorded_at": "2026-02-13T09:48:34Z",
}
POLLY: Final = archive(
    entry(URL, json.dumps([packed(each) for each in _PIECES]), encoding="base64"),
    entry("http://h/v1/embeddings", "?", encoding="base64"),
)
ANSWER: Final = {
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "a", "reasoning_content": "b"},
            "finish_reason": "stop",
        }
    ],
}
QUESTION: Final = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
SAMPLE: Final[dict[str, Any]] = {
    "id": 1,
    "events": [
        {"event": "sample_init"},
        {
            "event": "model",
            "call": {
                "request": {"model": "m"},
                "response": {**ANSWER, "id": "attachment://0123"},
                "call_refs": [[0, 1]],
                "call_key": "messages",
            },
        },
        {"event": "model", "call": {"request": {}}},
    ],
    "attachments": {"0123": "chatcmpl-1"},
    "events_data": {"messages": [], "calls": QUESTION["messages"]},
}
INSPECT: Final = {"version": 2, "status": "success", "eval": {}, "samples": [SAMPLE]}
BATCH_STATE: Final = {
    "version": 1,
    "stage": "done",
    "batch": {"id": "b", "error_file_id": {}},
    "results": [{"status_code": 200, "request_id": "r", "body": {**ANSWER, "usage": {}}}],
}
PAIR: Final = {"request": QUESTION, "response": ANSWER}
LITELLM: Final = {"call_type": "acompletion", "messages": [], "model": "m", "response": ANSWER}
INSTA: Final = f"---\nsource: src/stream.rs\nexpression: written\n---\n{STREAM.rstrip()}\n"
INSTA_BESIDE: Final = f'{INSTA}\n\n{{\n  "total_tokens": 3\n}}\n'
POLLY_YAML: Final = filled("polly.yaml")

FILES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "har": (("a.har", POLLY), ("recording.har.yaml", POLLY_YAML)),
    "vcr": (
        ("a.yaml", ISTR),
        ("a.json", json.dumps({"interactions": [interaction()], "version": 1})),
        ("a.yaml", json.dumps({"interactions": [interaction()], "version": 1}, indent=1)),
        ("b.yaml", GO_VCR),
    ),
    "ruby-vcr": (("a.yml", RUBY), ("b.yml", R_VCR)),
    "httpmock": (("a.yaml", HTTPMOCK),),
    "langchain-tests": (("a.yaml", LANGCHAIN),),
    "nock": (("a.json", json.dumps([NOCK])),),
    "mastra": (
        ("a.json", json.dumps({"meta": {"name": "a"}, "recordings": [MASTRA]}, indent=2)),
        ("b.json", json.dumps([MASTRA])),
    ),
    "seinfeld": (
        ("a.cassette.json", json.dumps({"entries": [SEINFELD], "meta": {"createdAt": "2026"}})),
        ("b.cassette.json", json.dumps({"entries": [PACKED_SEINFELD], "meta": {}})),
    ),
    "pi-rust": (("a.json", json.dumps(PI_RUST)), ("b.json", json.dumps(PACKED_PI_RUST))),
    "instructor-php": (("stream_a.json", json.dumps(INSTRUCTOR_PHP)),),
    "ccproxy": (("a.json", json.dumps(CCPROXY)),),
    "talkcody": (("a.json", json.dumps(TALKCODY)),),
    "google-test-server": (
        ("a.json", json.dumps({"recordID": "a", "interactions": [TEST_SERVER]})),
    ),
    "req-llm": (("a.json", json.dumps(REQ_LLM)), ("b.json", json.dumps(EARLY_REQ_LLM))),
    "http-snapshot": (("a.json", json.dumps([HTTP_SNAPSHOT], indent=2)),),
    "saloon": (("a.json", json.dumps(SALOON, indent=4)),),
    "datadog": (
        ("a.json", json.dumps(DATADOG)),
        (
            "b.json",
            json.dumps(
                {
                    **DATADOG,
                    "response": {"status": {"code": 200}, "body": f"base64:{packed(STREAM)}"},
                }
            ),
        ),
    ),
    "azure-test-proxy": (
        ("a.json", json.dumps({"Entries": [TEST_PROXY], "Variables": {}})),
        ("b.json", json.dumps({"Entries": [{**TEST_PROXY, "ResponseBody": STREAM}]}, indent=2)),
    ),
    "answer-alone": (("a.json", json.dumps(ALONE)),),
    "wiremock": (
        ("a.json", json.dumps(WIREMOCK)),
        ("b.json", json.dumps({"mappings": [WIREMOCK], "meta": {"total": 1}})),
        ("c.yaml", WIREMOCK_YAML),
    ),
    "httprr": (("a.httprr", HTTPRR),),
    "txtar": (("a.txtar", TXTAR),),
    "insta": (("a.snap", INSTA), ("b.snap", INSTA_BESIDE)),
    "gemini-cli": (("a.responses", RESPONSES),),
    "batch-state": (("a.json", json.dumps(BATCH_STATE, indent=2)),),
    "inspect": (("a.json", json.dumps(INSPECT, indent=2)), ("b.json", json.dumps(INSPECT))),
    "pairs": (
        ("a.json", json.dumps(PAIR)),
        ("b.json", json.dumps([PAIR, PAIR], indent=2)),
        ("c.json", json.dumps(LITELLM)),
        ("d.json", json.dumps({"request_body": QUESTION, "response_body": ANSWER})),
    ),
    "opal": (("a.json", json.dumps(OPAL)), ("b.json", json.dumps(OPAL, indent=2))),
}
"""By the name of the row: names and contents."""
