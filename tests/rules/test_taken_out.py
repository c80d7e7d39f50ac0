"""Who publishes a recording may take values out: the mark left there is no fault of the server."""

import json

import pytest

import conformance

SIGNATURE = "wire/gemini/signature-readable"
ARGUMENTS = "wire/responses-items/whole-arguments-json"


def gemini(signature: str) -> tuple[str, bytes]:
    part = {"text": "Two", "thoughtSignature": signature}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    payload = {"candidates": [candidate], "modelVersion": "m", "usageMetadata": {}}
    return "gemini.generate", b"data: " + json.dumps(payload).encode() + b"\n\n"


def response(arguments: str) -> tuple[str, bytes]:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add"}
    item = call | {"arguments": arguments, "status": "completed"}
    body = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
    return "openai.responses", json.dumps(body).encode()


@pytest.mark.parametrize(
    ("rule", "answer", "verdict"),
    [
        (SIGNATURE, gemini("QUJD"), "PASS"),
        (SIGNATURE, gemini("<THOUGHT_SIGNATURE>"), "PASS"),
        (SIGNATURE, gemini("<thought signature>"), "FAIL"),
        (SIGNATURE, gemini("signed<THOUGHT_SIGNATURE>"), "FAIL"),
        (ARGUMENTS, response('{"a": 1}'), "PASS"),
        (ARGUMENTS, response("[REDACTED_ARGUMENTS len=97 sha=36c8224b]"), "VACUOUS"),
        (ARGUMENTS, response("[REDACTED"), "FAIL"),
        (ARGUMENTS, response('{"a": [REDACTED]}'), "FAIL"),
    ],
)
def test_redaction_mark_is_right(rule: str, answer: tuple[str, bytes], verdict: str) -> None:
    dialect, body = answer
    content = "application/json" if body.startswith(b"{") else "text/event-stream"
    head = {"status": 200, "headers": {"content-type": content}}
    result = conformance.Checker(dialect, rules=[rule]).check([body], response=head)
    assert result.verdicts[rule].value == verdict
