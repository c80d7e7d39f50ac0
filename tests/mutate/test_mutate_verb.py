"""`conformance mutate` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette import discover, read
from conformance.cli import main
from conformance.core import shipped

SUMMARY = "openai.responses/demo/summary.cassette.jsonl"


@pytest.fixture
def recording() -> str:
    return str(shipped.cassettes() / SUMMARY)


def test_mutants_are_reported_with_the_rules_that_find_them(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", recording, "--operator", "X6-*"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("X6-duplicate-delta.")
    assert "summary/lifecycle/text-agrees" in out


def test_mutants_are_written_as_cassettes(recording: str, tmp_path: Path) -> None:
    assert main(["mutate", recording, "--operator", "X1-no-start", "-o", str(tmp_path)]) == 0
    found = [read(path) for path in discover(tmp_path)]
    assert found
    for cassette in found:
        assert cassette.header.extra["operator"] == "X1-no-start"
        assert cassette.header.extra["base"] == "summary"
        assert not cassette.header.expect
        assert cassette.sealed


def test_unknown_operator_exits_2(recording: str) -> None:
    assert main(["mutate", recording, "--operator", "nope"]) == 2


@pytest.mark.parametrize("arguments", [[], ["--matrix", "x.sse"], ["--matrix", "--format", "pdf"]])
def test_wrong_call_exits_2(arguments: list[str]) -> None:
    assert main(["mutate", *arguments]) == 2


def test_operator_without_a_place_exits_5(recording: str) -> None:
    assert main(["mutate", recording, "--operator", "B8-second-block"]) == 5
