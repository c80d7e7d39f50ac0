"""What a request demands of its answer holds in every API, and what it does not demand is free."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.recordings.check import check_paths

CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
STEP = {"ends": ["complete", "length", "refused"], "limit": 2048}
SSE, JSON = "text/event-stream", "application/json"
ERROR = {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}


def counted(read: int, written: int) -> dict[str, int]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def stream(*, reason: str = "stop", read: int = 5, written: int = 16) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", "content": "4"}, "finish_reason": None}
    over = {"index": 0, "delta": {}, "finish_reason": reason}
    chunks = [{**CHUNK, "choices": [each]} for each in (choice, over)]
    chunks.append({**CHUNK, "choices": [], "usage": counted(read, written)})
    return "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"


def exchange(
    body: str, *, kind: str = SSE, status: int = 200, role: str = "first", **asked: Any
) -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": "Hi"}]
    fields = {"model": "m", "messages": messages, "stream": True, **asked}
    request = {"method": "POST", "path": "/v1/chat/completions", "json": fields}
    return [
        {"request": request, "scenario": "own", "role": role},
        {"response": {"status": status, "headers": [["content-type", kind]]}},
        {"text": body},
        {"end": "eof"},
    ]


def found(folder: Path, *exchanges: list[dict[str, Any]], target: str = "server") -> set[str]:
    """Last parts of the rules over demands that fail."""
    run = {"target": target, "deterministic": True, "steps": {"first": STEP, "second": STEP}}
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", "run": run}
    lines: list[dict[str, Any]] = [head]
    for number, lines_of_one in enumerate(exchanges, 1):
        after = {"after": number - 1} if number > 1 else {}
        hop = {"hop": "downstream"} if target == "gateway" else {}
        first, *rest = lines_of_one
        lines += [{**first, "exchange": number, **after, **hop}, *rest]
    path = folder / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    rules = {each.rule for each in report.findings if each.rule.startswith("scenario/")}
    return {rule.removeprefix("scenario/") for rule in rules}


def test_a_stream_that_nobody_asked_for_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, exchange(stream())) == set()
    assert found(tmp_path, exchange(stream(), stream=False)) == {"body-as-asked"}
    assert found(tmp_path, exchange(stream(), stream=None)) == {"body-as-asked"}


@pytest.mark.parametrize(("written", "rules"), [(8, {"limit-used"}), (13, set()), (16, set())])
def test_cut_answer_has_used_its_limit(written: int, rules: set[str], tmp_path: Path) -> None:
    cut = exchange(stream(reason="length", written=written), max_tokens=16)
    assert found(tmp_path, cut) == rules


@pytest.mark.parametrize(("read", "rules"), [(5, {"history-counted"}), (6, set()), (0, set())])
def test_a_second_turn_counts_more_input(read: int, rules: set[str], tmp_path: Path) -> None:
    second = exchange(stream(read=read), role="second")
    assert found(tmp_path, exchange(stream()), second) == rules


REFUSALS: list[tuple[str, str, set[str]]] = [
    (json.dumps(ERROR), JSON, set()),
    ("<html><title>Bad</title></html>", "text/html", {"refusal-says-why"}),
    ("", JSON, {"refusal-says-why"}),
    (json.dumps({"error": {**ERROR["error"], "message": ""}}), JSON, {"refusal-says-why"}),
]


@pytest.mark.parametrize(("body", "kind", "rules"), REFUSALS)
def test_a_refusal_says_why(body: str, kind: str, rules: set[str], tmp_path: Path) -> None:
    assert found(tmp_path, exchange(body, kind=kind, status=400)) == rules


def test_answer_of_another_kind_is_judged_by_the_request(
    tmp_path: Path,
) -> None:
    text = stream().replace("chat.completion.chunk", "text_completion")
    run = {"target": "server", "deterministic": True, "steps": {"first": STEP}}
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", "run": run}
    first, *rest = exchange(text)
    path = tmp_path / "own.cassette.jsonl"
    stated = {**first, "exchange": 1, "dialect": "openai.chat"}
    lines = [json.dumps(line) for line in (head, stated, *rest)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    assert "wire/chat/chunk-object" in {each.rule for each in report.findings}


FAULTS: list[tuple[int, int, set[str]]] = [
    (400, 400, set()),
    (400, 502, {"fault-kept"}),
    (500, 502, set()),
    (500, 429, set()),
    (500, 400, {"fault-kept"}),
    (401, 500, set()),
]


@pytest.mark.parametrize(("upstream", "status", "rules"), FAULTS)
def test_gateway_keeps_the_fault(
    upstream: int, status: int, rules: set[str], tmp_path: Path
) -> None:
    run = {"target": "gateway", "steps": {"first": {"ends": ["refused", "failed"]}}}
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", "run": run}
    lines: list[dict[str, Any]] = [head]
    for number, (hop, each) in enumerate((("downstream", status), ("upstream", upstream)), 1):
        first, *rest = exchange(json.dumps(ERROR), kind=JSON, status=each)
        lines += [{**first, "exchange": number, "hop": hop, "dialect": "openai.chat"}, *rest]
    path = tmp_path / "own.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    assert {each.rule for each in report.findings} == {f"scenario/{rule}" for rule in rules}


CODES: list[tuple[int, Any, set[str]]] = [
    (400, "invalid_request_error", set()),
    (400, 400, set()),
    (400, "server_error", {"scenario/fault-kept"}),
    (400, "502", {"scenario/fault-kept"}),
    (400, "1213", set()),  # a number of the provider's own
    (500, "api_error", set()),
    (500, "INVALID_ARGUMENT", {"scenario/fault-kept"}),
]


@pytest.mark.parametrize(("upstream", "code", "rules"), CODES)
def test_stream_error_has_a_side(upstream: int, code: Any, rules: set[str], tmp_path: Path) -> None:
    run = {"target": "gateway", "steps": {"first": {"ends": ["refused", "failed"]}}}
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", "run": run}
    error = {"error": {"message": "It was refused.", "type": "error", "code": code}}
    first, *rest = exchange(f"data: {json.dumps(error)}\n\n")
    asked, *refused = exchange(json.dumps(ERROR), kind=JSON, status=upstream)
    stated = {"dialect": "openai.chat"}
    down = {**first, "exchange": 1, "hop": "downstream", **stated}
    up = {**asked, "exchange": 2, "hop": "upstream", **stated}
    path = tmp_path / "own.cassette.jsonl"
    lines = [head, down, *rest, up, *refused]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    report = check_paths([path], trust=[path])
    assert report.errors == ()
    assert {each.rule for each in report.findings} & {"scenario/fault-kept"} == rules
