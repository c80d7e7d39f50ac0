"""What leaves the process fits its published schema by the reference validator, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.cli import main
from conformance.core.shipped import cassettes

SAVED = Path(__file__).parents[1] / "cassette" / "saved"


def schema(name: str, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert main(["schema", name]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name",
    [
        *("badge", "baseline", "cassette", "diff", "harness", "identity", "list", "markers"),
        *("profile", "report", "scenario", "suite", "system", "vectors"),
    ],
)
def test_every_schema_is_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Draft202012Validator.check_schema(schema(name, capsys))


REPORTS = [
    ["check", str(cassettes() / "mutants" / "wire" / "chat"), "--rule", "wire/chat/*"],
    ["check", str(SAVED)],
    ["check", str(SAVED / "trace.txt"), "--format", "badge"],
    ["diff", str(SAVED / "trace.txt"), str(SAVED / "curl-i.txt")],
    ["identify", str(SAVED / "trace.txt")],
    ["list"],
]
NAMES = {"check": "report", "identify": "identity"}


@pytest.mark.parametrize("call", REPORTS, ids=" ".join)
def test_what_is_put_out_fits(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    name = "badge" if "badge" in call else NAMES.get(call[0], call[0])
    described = schema(name, capsys)
    main(call if "--format" in call else [*call, "--format", "json"])
    Draft202012Validator(described).validate(json.loads(capsys.readouterr().out))


def test_cassettes_fit_line_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "a.cassette.jsonl"
    assert main(["convert", str(SAVED / "flow.har"), str(target)]) == 0
    validator = Draft202012Validator(schema("cassette", capsys))
    for line in target.read_text().splitlines():
        validator.validate(json.loads(line))
