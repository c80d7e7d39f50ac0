"""Senders are known by their own signs, and judged by their own ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from conformance.recordings.check import check_paths
from tests.profiles.identifying import chunk, written

ROLE_ONCE: Final = "wire/chat/role-once"
NOTE: Final[dict[str, Any]] = {"note": "Written by a machine.", "system_fingerprint": ""}
ARK: Final[dict[str, Any]] = {"id": f"02{1_764_682_994_508}{'a1' * 12}", "service_tier": "default"}
CLI: Final[dict[str, Any]] = {"id": "resp_0811"}


def answered(*, native: bool, finish_key: bool = True, **more: Any) -> list[dict[str, Any]]:
    deltas = ({"reasoning_content": "Hm."}, {"content": "Yes."})
    chunks = [chunk({"role": "assistant", **each}, **more) for each in deltas]
    chunks.append(chunk({}, "stop", **more))
    for each in chunks:
        (choice,) = each["choices"]
        if native:
            choice["native_finish_reason"] = choice["finish_reason"]
        if not (finish_key or choice["finish_reason"]):
            del choice["finish_reason"]
    return chunks


SENDERS: Final = [
    ("hunyuan", answered(native=False, **NOTE)),
    ("volcengine", answered(native=False, finish_key=False, **ARK)),
    ("cliproxyapi", answered(native=True, **CLI)),
]
OTHERS: Final = [
    answered(native=False, **{**NOTE, "note": ""}),
    answered(native=False, **{**ARK, "id": "02-1764682994508"}),
    answered(native=False, **CLI),
    answered(native=True, id="chatcmpl-0811"),
]


@pytest.mark.parametrize(("profile", "chunks"), SENDERS)
def test_repeated_role_is_usual(profile: str, chunks: list[dict[str, Any]], tmp_path: Path) -> None:
    (stream,) = check_paths([written(tmp_path / "a.sse", chunks)]).streams
    assert stream.profile == profile
    assert [each.rule for each in stream.findings if each.level == "MUST"] == []


@pytest.mark.parametrize("chunks", OTHERS)
def test_without_sign_repeated_role_is_fault(chunks: list[dict[str, Any]], tmp_path: Path) -> None:
    (stream,) = check_paths([written(tmp_path / "a.sse", chunks)]).streams
    assert stream.profile == "strict"
    assert ROLE_ONCE in [each.rule for each in stream.findings]


def test_early_streams_of_watsonx_name_neither_model_nor_object(tmp_path: Path) -> None:
    head = {"model_id": "m-large", "created_at": "2024-10-13T09:11:55.072Z"}
    given = {"prompt_tokens": 8, "total_tokens": 8}
    counted = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
    chunks = [
        chunk({"role": "assistant"}, usage=given, **head),
        chunk({"content": "Yes."}, "stop", usage=counted, **head),
    ]
    for each in chunks:
        del each["object"], each["model"]
    (stream,) = check_paths([written(tmp_path / "a.sse", chunks)]).streams
    assert stream.profile == "watsonx-early"
    assert [each.rule for each in stream.findings if each.level == "MUST"] == []


@pytest.mark.parametrize(
    ("build", "profile", "is_fault"),
    [
        ("b5379-360a9c98", "llamacpp-early", False),
        ("b5523-aa6dff05", "llamacpp-early", False),
        ("b5524-aa6dff05", "llamacpp", True),
        ("b10499-aa6dff05", "llamacpp", True),
    ],
)
def test_early_builds_of_llama_cpp_left_thoughts_in_what_they_streamed(
    tmp_path: Path, build: str, profile: str, *, is_fault: bool
) -> None:
    chunks = [
        chunk({"role": "assistant", "content": "<think>"}, system_fingerprint=build),
        chunk({"content": "Hm.</think>Yes."}, system_fingerprint=build),
        chunk({}, "stop", system_fingerprint=build, timings={"predicted_n": 6}),
    ]
    (stream,) = check_paths([written(tmp_path / "a.sse", chunks)]).streams
    assert stream.profile == profile
    assert ("stripping/visible-text/no-markers" in [f.rule for f in stream.findings]) is is_fault


@pytest.mark.parametrize(("version", "is_fault"), [({"modelVersion": "m"}, True), ({}, False)])
def test_no_model_version_counts(
    tmp_path: Path, version: dict[str, str], *, is_fault: bool
) -> None:
    candidate = {"content": {"parts": [{"text": "Yes."}], "role": "model"}, "finishReason": "STOP"}
    path = written(tmp_path / "a.sse", [{"candidates": [{**candidate, "index": 0}], **version}])
    (stream,) = check_paths([path]).streams
    assert ("wire/gemini/counts-stated" in [f.rule for f in stream.findings]) is is_fault
