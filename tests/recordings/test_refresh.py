"""What a corpus says of profiles: habits that eight streams share, claims that they contradict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main

CHUNK: dict[str, Any] = {
    "id": "20261001010101aaaaaaaaaaaaaaaa",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "glm-5",
}


def stream(*, roles: bool = False, key_always: bool = True, named: bool = False) -> str:
    """A short answer; `named` as Z.ai names it, with `roles` in every delta."""
    model = {"model": "glm-5" if named else "m", "id": CHUNK["id"] if named else "c"}
    open_key = {"finish_reason": None} if key_always else {}
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "reasoning_content": "So."},
        {"content": "Yes."},
    ]
    deltas[1] |= {"role": "assistant"} if roles else {}
    chunks: list[dict[str, Any]] = [{"index": 0, "delta": d, **open_key} for d in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [json.dumps({**CHUNK, **model, "choices": [choice]}) for choice in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])


def folder_of(tmp_path: Path, streams: list[str]) -> str:
    for number, text in enumerate(streams):
        (tmp_path / f"{number}.sse").write_text(text, encoding="utf-8")
    return str(tmp_path)


def refreshed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["profile", "refresh", *arguments]) == code
    return capsys.readouterr().out


def test_habit_of_eight_is_proposed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, [stream(key_always=False)] * 8)
    out = refreshed(capsys, folder, "--profile", "strict")
    assert out.startswith("strict (openai.chat): 8 streams\n")
    assert "  finish_key: last  (8 of 8 streams; ships always)\n" in out
    assert "done:" not in out, "they end as strict asks for"


def test_affected_client_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, [stream(roles=True)] * 8)
    out = refreshed(capsys, folder, "--profile", "strict")
    assert "  role: repeated  (8 of 8 streams; ships once)\n" in out
    assert "    would silence wire/chat/role-once, on whose breach a named client breaks\n" in out


@pytest.mark.parametrize(
    "streams", [[stream(key_always=False)] * 7, [*([stream(key_always=False)] * 8), stream()]]
)
def test_fewer_or_divided_streams_propose_nothing(
    streams: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = refreshed(capsys, folder_of(tmp_path, streams), "--profile", "strict")
    assert "finish_key" not in out


def test_unseen_claim_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, [stream(named=True)] * 8)
    out = refreshed(capsys, folder)
    assert out.startswith("zai (openai.chat): 8 streams\n")
    assert "  finish_key: always  (8 of 8 streams; ships last, seen: 2 of 2 recordings)\n" in out


def test_streams_of_nobody_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, [stream()] * 2)
    out = refreshed(capsys, folder, code=5)
    assert out == "2 streams named no system for certain (--profile says whose)\n"


def test_unreadable_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.cassette.jsonl").write_text("{", encoding="utf-8")
    assert main(["profile", "refresh", folder_of(tmp_path, [stream()])]) == 5
    assert "skipped: " in capsys.readouterr().err
