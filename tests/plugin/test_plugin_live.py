"""`scenarios:` of a `*.conformance.yaml` file against a live target, with a port or without."""

from __future__ import annotations

import sys

import pytest

from tests.plugin.conftest import CASSETTES, Project, counts

SPEC = "scenarios: [think]\napis: [chat]\nmodel: m\nsuites: [wire/chat]\n"
# An application that answers every chat alike, in a stream or not; `BREAK` sends `[DONE]` twice.
APP = """
import json
import os

USAGE = {
    "prompt_tokens": 3,
    "completion_tokens": 9,
    "total_tokens": 12,
    "completion_tokens_details": {"reasoning_tokens": 4},
}


def chunk(delta, finish=None, **more):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}] if delta is not None else []
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\\n\\n"


STREAM = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "So it is."}),
    chunk({"content": "Four."}),
    chunk({}, "stop"),
    chunk(None, usage=USAGE),
    b"data: [DONE]\\n\\n",
]
WHOLE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant", "content": "Four.", "reasoning_content": "So it is."
            },
            "finish_reason": "stop",
        }
    ],
    "usage": USAGE,
}


async def app(scope, receive, send):
    if scope["type"] != "http":
        raise RuntimeError("no lifespan")
    asked = (await receive()).get("body") or b"{}"
    status = 200 if scope["path"].endswith("/chat/completions") else 404
    streams = status != 200 or json.loads(asked).get("stream")
    kind = b"text/event-stream" if streams else b"application/json"
    headers = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    pieces = STREAM if streams else [json.dumps(WHOLE).encode()]
    for piece in pieces * (2 if streams and "BREAK" in os.environ else 1) if status == 200 else ():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
"""


def test_without_a_target_scenarios_are_skipped_visibly(project: Project) -> None:
    project.write("a.conformance.yaml", SPEC)
    result = project.run("-rs")
    counts(result, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*a.conformance.yaml:1: needs a live target*"])


def test_application_needs_no_port(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", APP)
    project.write("a.conformance.yaml", SPEC)
    result = project.run("--conformance-url=asgi:served:app", "-v")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 10
    assert "failed" not in outcomes, result.stdout.str()
    result.stdout.fnmatch_lines(["a.conformance.yaml::chat/think/stream::wire/chat/* PASSED*"])


def test_application_fault_fails_rule(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BREAK", "1")
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", APP)
    project.write("a.conformance.yaml", SPEC)
    result = project.run("--conformance-url=asgi:served:app")
    assert result.parseoutcomes()["failed"] > 0
    result.stdout.fnmatch_lines(["FAILED a.conformance.yaml::chat/think/stream::wire/chat/*"])


def test_target_that_is_not_there_fails_once(project: Project) -> None:
    project.write("a.conformance.yaml", SPEC)
    result = project.run("--conformance-url=http://127.0.0.1:9/v1")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == 1
    result.stdout.fnmatch_lines(["*127.0.0.1:9: cannot connect*"])


def test_nothing_is_requested_while_items_are_collected(project: Project) -> None:
    project.write("a.conformance.yaml", SPEC)
    result = project.run("--conformance-url=http://127.0.0.1:9/v1", "--collect-only", "-q")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["a.conformance.yaml::everything else"])


THINKS = CASSETTES / "openai.chat/deepseek/parallel-tools.cassette.jsonl"
CLIENT = f"{sys.executable} -m reference_impl.client harness"
REPLAYED = "suites: [thinking]\ncassettes: [one.cassette.jsonl]\n"


@pytest.fixture
def replayed(project: Project) -> Project:
    project.take(THINKS, "one.cassette.jsonl")
    project.write("a.conformance.yaml", REPLAYED)
    return project


def test_client_is_judged_by_what_it_says_it_saw(replayed: Project) -> None:
    result = replayed.run(f"--conformance-client={CLIENT}", "-v")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 3
    assert "failed" not in outcomes, result.stdout.str()
    result.stdout.fnmatch_lines(["a.conformance.yaml::one::thinking/client/* PASSED*"])


def test_defect_of_a_client_fails_its_rule(replayed: Project) -> None:
    result = replayed.run(f"--conformance-client={CLIENT} --defect thinking-dropped")
    result.stdout.fnmatch_lines(["FAIL MUST thinking/client/agrees-with-wire *"])


def test_client_that_does_not_start_fails_once(replayed: Project) -> None:
    result = replayed.run("--conformance-client=no-such-adapter")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["*no-such-adapter*"])


def test_client_and_server_exclude_each_other(replayed: Project) -> None:
    result = replayed.run("--conformance-client=x", "--conformance-url=http://127.0.0.1:9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*do not go together*"])


def test_scenarios_are_skipped_where_a_client_is_tested(project: Project) -> None:
    project.write("a.conformance.yaml", SPEC)
    counts(project.run("--conformance-client=x"), skipped=1)


def test_without_leaves_steps_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", APP)
    project.write("a.conformance.yaml", f"{SPEC}without: [thinking]\n")
    result = project.run("--conformance-url=asgi:served:app", "-rs")
    assert "failed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(["SKIPPED*not run: the target or its profile leaves it out"])
    result.stdout.no_fnmatch_line("*::wire/chat/* PASSED*")


LOCKED = """
from served import app as inner


async def app(scope, receive, send):
    if scope["type"] == "http" and (b"authorization", b"Bearer k-1") not in scope["headers"]:
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await inner(scope, receive, send)
"""


def test_key_is_taken_from_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(project.path)
    monkeypatch.setenv("SERVICE_KEY", "k-1")
    project.write("served.py", APP)
    project.write("locked.py", LOCKED)
    project.write("a.conformance.yaml", f"{SPEC}api-key-env: SERVICE_KEY\n")
    result = project.run("--conformance-url=asgi:locked:app")
    assert "failed" not in result.parseoutcomes(), result.stdout.str()
    assert result.parseoutcomes()["passed"] > 10


def test_target_has_its_baseline_name(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BREAK", "1")
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", APP)
    entry = "rule: wire/chat/done-once, target: my-service-1.0, exchange: think/stream, reason: x"
    project.write("known.yaml", f"entries:\n  - {{{entry}}}\n")
    spec = f"{SPEC}rules: [wire/chat/done-once]\nexpected-failures: known.yaml\n"
    for more, expected in (("target: my-service-1.0\n", 1), ("", 0)):
        project.write("a.conformance.yaml", f"{spec}{more}")
        outcomes = project.run("--conformance-url=asgi:served:app").parseoutcomes()
        assert outcomes.get("xfailed", 0) == expected


def test_file_can_choose_whole_places(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(project.path)
    project.write("served.py", APP)
    project.write("a.conformance.yaml", f"{SPEC}items: exchange\n")
    counts(project.run("--conformance-url=asgi:served:app"), passed=3)
    monkeypatch.setenv("BREAK", "1")
    result = project.run("--conformance-url=asgi:served:app")
    result.stdout.fnmatch_lines(["FAILED a.conformance.yaml::chat/think/stream - FAIL MUST *"])


def test_recordings_of_a_client_are_items_where_the_file_says_so(replayed: Project) -> None:
    replayed.write("a.conformance.yaml", f"{REPLAYED}items: exchange\n")
    counts(replayed.run(f"--conformance-client={CLIENT}"), passed=2)
    result = replayed.run(f"--conformance-client={CLIENT} --defect thinking-dropped")
    result.stdout.fnmatch_lines(["FAILED a.conformance.yaml::one - FAIL MUST thinking/client/*"])
