from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from conformance.cli import main
from conformance.core import shipped

ROOT = shipped.cassettes()
GOOD = str(ROOT / "openai.responses/demo/summary.cassette.jsonl")
BROKEN = str(ROOT / "mutants/demo/summary.cassette.jsonl")
CHAT = str(ROOT / "openai.chat/ollama/reasoning-field.cassette.jsonl")
TOOLS = str(ROOT / "openai.responses/openai/summary-then-call.cassette.jsonl")


def test_no_change_is_0_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", GOOD, GOOD]) == 0
    assert capsys.readouterr().out == "1 exchange compared: no change\n"


def test_a_change_is_1_and_reported_in_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", GOOD, BROKEN]) == 1
    assert capsys.readouterr().out == (
        "exchange 1\n"
        "  ~ verdict  stripping/visible-text/no-markers: PASS -> FAIL\n"
        "\n"
        "1 exchange compared, 1 changed: 1 verdict\n"
    )


def test_many_changes_are_clipped_unless_requested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", CHAT, TOOLS]) == 1
    short = capsys.readouterr().out
    assert "more changes (-v shows all)" in short
    assert main(["diff", CHAT, TOOLS, "-v"]) == 1
    assert len(capsys.readouterr().out) > len(short)
    assert len(short.splitlines()) < 20


def test_text_is_compared_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", GOOD, BROKEN, "--text"]) == 1
    assert "~ text     text, character 0: 'They are" in capsys.readouterr().out


def test_json_fits_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "diff.md"
    assert main(["diff", GOOD, BROKEN, "--format", "json", "-o", f"markdown={page}"]) == 1
    found = json.loads(capsys.readouterr().out)
    main(["schema", "diff"])
    schema = json.loads(capsys.readouterr().out)
    jsonschema_rs.validate(schema, found)
    assert not jsonschema_rs.is_valid(schema, {**found, "diff": "2.0"})
    assert found["changed"] == 1
    assert "| verdict `stripping/visible-text/no-markers` | `PASS` | `FAIL` |" in page.read_text()


WRONG: list[tuple[list[str], str]] = [
    ([GOOD, "none.sse"], "error: none.sse: no such file or folder\n"),
    ([GOOD, str(ROOT)], "error: expected two files or two folders"),
    (
        [GOOD, GOOD, "--format", "pdf"],
        "error: format must be one of text, json, markdown, html, got 'pdf'\n",
    ),
    (
        [GOOD, GOOD, "-o", "pdf=x"],
        "error: format must be one of text, json, markdown, html, got 'pdf'\n",
    ),
    ([GOOD, GOOD, "-o", "x"], "error: -o must be FORMAT=FILE, got 'x'"),
    ([GOOD, CHAT, "--dialect", "openai.chat"], "error: "),
]


@pytest.mark.parametrize(("arguments", "line"), WRONG)
def test_a_wrong_call_is_2_and_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (err or out).startswith(line)


def test_the_example_of_the_docs_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parent.parent.parent
    text = (root / "docs/reports.md").read_text(encoding="utf-8")
    call, printed = text.split("```console\n$ conformance ")[1].split("```")[0].split("\n", 1)
    monkeypatch.chdir(root)
    assert main(call.split()) == 1
    assert capsys.readouterr().out == printed


def test_empty_folders_are_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(tmp_path), str(tmp_path)]) == 5
    out, err = capsys.readouterr()
    assert out == "nothing was compared\n"
    assert err == "error: there is nothing to compare\n"


def test_broken_file_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cassette.jsonl").write_bytes(Path(GOOD).read_bytes())
    (tmp_path / "b.sse").write_bytes(b"")
    assert main(["diff", str(tmp_path), str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "b.sse: the file is empty" in out
    assert out.endswith("1 exchange compared: no change\n")
