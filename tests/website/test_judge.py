"""The judge in the browser: what stands in for jsonschema-rs gives the same verdicts."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from website.bundle import write_archive

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("verdicts.py")


def verdicts(which: str, every: int) -> Any:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), which, str(every)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("every", [100, pytest.param(1, marks=pytest.mark.docs)])
def test_the_stand_in_gives_the_same_verdicts(every: int) -> None:
    results, errors = verdicts("stand-in", every)
    assert [results, errors] == verdicts("real", every)
    assert len(results) > 1000 / every
    assert errors == []


@pytest.mark.parametrize("schema", ['{"pattern": ["a"]}', '{"pattern": "("}', '{"type": 3}'])
def test_what_is_no_schema_is_refused(schema: str) -> None:
    script = (
        "import runpy, sys\n"
        "stand_in = runpy.run_path(sys.argv[1])\n"
        "try: stand_in['validator_for'](__import__('json').loads(sys.argv[2]))\n"
        "except stand_in['ValidationError']: print('refused')\n"
    )
    command = [sys.executable, "-c", script, str(ROOT / "website/judge/jsonschema_rs.py"), schema]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"refused\n"


def test_the_archive_holds_what_a_check_needs_and_no_recordings(tmp_path: Path) -> None:
    write_archive(tmp_path / "judge.zip", [])
    with ZipFile(tmp_path / "judge.zip") as archive:
        names = set(archive.namelist())
    needed = {
        "judge.py",
        "jsonschema_rs.py",
        "conformance/_data/built_values.pickle",
        "yaml/loader.py",
    }
    assert needed <= names
    assert "conformance/_data/specs/wire/chat.yaml" in names
    assert not [each for each in names if each.endswith((".cassette.jsonl", ".pyc", ".so"))]


RULES = """\
suite: own
title: Ours
rules:
  - id: never-speaks
    level: MUST
    says: An answer has no text.
    since: 0.1.0
    never: text.delta
    breaks:
      - dialect: openai.chat
        frames: ['{"choices": [{"index": 0, "delta": {"content": "a"}}]}']
    keeps:
      - dialect: openai.chat
        frames: ['{"choices": [{"index": 0, "delta": {"content": "b"}}]}']
"""
STREAM = (ROOT / "website/assets/example.sse").read_text(encoding="utf-8")


@pytest.mark.parametrize("stream", ["", STREAM])
def test_rule_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    monkeypatch.chdir(tmp_path)
    judge = runpy.run_path(str(ROOT / "website/judge/judge.py"))["judge"]
    text, page = judge(stream, "", RULES)
    lines = text.splitlines()
    places = sorted(line.partition(": ")[2] for line in lines if "own.yaml:" in line[:9])
    assert places[0] == "own/never-speaks breaks 1: ok"
    assert places[1].startswith("own/never-speaks keeps 1: FAILED: the rule is broken")
    assert bool(page) is bool(stream)
    assert ("1 rule over 1 stream" in text) is bool(stream)


def test_nothing_pasted_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judge = runpy.run_path(str(ROOT / "website/judge/judge.py"))["judge"]
    assert judge("", "", "") == ("error: paste a stream, or rules with examples", "")
