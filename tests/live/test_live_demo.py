"""The demonstration: whole in the live tier, its way of failing in every run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.core.shipped import cassettes
from tests.live import demo
from tests.live.demo import Demo, FailedError, program


@pytest.mark.live
def test_all_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--out", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert output.count(demo.ANSWER) == len(demo.ASKING)
    assert (tmp_path / "report.html").stat().st_size > 0


def test_a_program_that_fails_fails_the_demonstration() -> None:
    with pytest.raises(FailedError, match=r"exit code 3\n.*why"):
        program(sys.executable, "-c", "import sys; print('why'); sys.exit(3)")


def test_a_suite_without_a_case_fails_the_demonstration(tmp_path: Path) -> None:
    lines: list[str] = []
    held = cassettes() / "openai.chat/reference/opt-in.cassette.jsonl"
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / held.name).write_bytes(held.read_bytes())
    with pytest.raises(FailedError, match="exit code 1"):
        Demo(tmp_path, lines.append).judge_again()
