from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import open_recording
from conformance.core import shipped
from tests.corpus.checked import check, rows

DIALECT = "openai.chat"
GOOD = shipped.cassettes() / DIALECT / "deepseek" / "thinking-then-text.cassette.jsonl"
BODY = open_recording(GOOD).exchanges[0].body.decode()
LITELLM = {
    "id": "l1",
    "call_type": "pass_through_endpoint",
    "response_cost": 0.1,
    "messages": [],
    "model": "m-1",
    "custom_llm_provider": "north",
    "startTime": 1762000000.5,
}
LANGFUSE = {"id": "f1", "trace_id": "t", "type": "GENERATION", "input": {"model": "m-1"}}
SPAN = {"spanId": "o1", "startTimeUnixNano": "1762000000000000000"}


def otlp(*attributes: tuple[str, str], **span: Any) -> dict[str, Any]:
    values = [{"key": key, "value": {"stringValue": value}} for key, value in attributes]
    spans = [{**SPAN, **span, "attributes": values}, {"spanId": "other", "attributes": []}]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


STORED = {
    "litellm": ({**LITELLM, "response": {"response": BODY}}, "l1"),
    "langfuse": ({**LANGFUSE, "output": BODY, "start_time": "2026-11-02 10:00:00.1"}, "f1"),
    "otlp": (otlp(("http.response.body", BODY), ("gen_ai.request.model", "m-1")), "o1"),
}
PARSED = {
    "litellm": {**LITELLM, "response": {"choices": []}},
    "langfuse": {**LANGFUSE, "output": '{"role": "assistant"}'},
    "otlp": otlp(("gen_ai.output.messages", "[]")),
}


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
@pytest.mark.parametrize("tool", STORED)
def test_bodies_that_a_tool_kept_are_judged(tool: str, suffix: str, tmp_path: Path) -> None:
    row, name = STORED[tool]
    (tmp_path / f"in{suffix}").write_text(json.dumps(row) + "\n", encoding="utf-8")
    check(tmp_path / f"in{suffix}", tmp_path / "out")
    (found,) = rows(tmp_path / "out")
    assert (found["id"], found["dialect"], found["model"]) == (name, DIALECT, "m-1")
    assert found["time"] is not None


@pytest.mark.parametrize("tool", PARSED)
def test_what_a_tool_parsed_is_refused_with_the_reason(tool: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(PARSED[tool]) + "\n", encoding="utf-8")
    progress = check(tmp_path / "in.jsonl", tmp_path / "out")
    (found,) = rows(tmp_path / "out", "unreadable")
    assert "keeps the answer as it parsed it, not the bytes that came" in found["reason"]
    assert (progress.streams, progress.unreadable) == (0, 1)


def test_what_a_resource_says_is_not_stated_of_its_spans(tmp_path: Path) -> None:
    """An id of the resource is none of a span, and its `gen_ai.*` is no answer that was parsed."""
    found = [
        {"key": key, "value": {"stringValue": "x"}} for key in ("id", "end", "gen_ai.agent.name")
    ]
    row = otlp(("http.response.body", BODY))
    row["resourceSpans"][0]["resource"] = {"attributes": found}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    progress = check(tmp_path / "in.jsonl", tmp_path / "out")
    assert (progress.streams, progress.unreadable) == (1, 0)
    assert [each["id"] for each in rows(tmp_path / "out")] == ["o1"]


@pytest.mark.parametrize("time", ["!762", [], {}, "", "9" * 5000, -1])
def test_a_time_that_is_none_is_reported_for_its_row_alone(time: Any, tmp_path: Path) -> None:
    spans = otlp(("http.response.body", BODY), startTimeUnixNano=time)
    lines = "".join(json.dumps(each) + "\n" for each in (spans, STORED["otlp"][0]))
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    progress = check(tmp_path / "in.jsonl", tmp_path / "out")
    assert progress.streams + progress.unreadable == 2
    assert progress.streams >= 1
