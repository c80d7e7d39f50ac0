"""`baseline`, and the options of `check` and `lint` that belong to expectations, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from conformance.baseline.entries import load_baseline
from conformance.cli import main
from conformance.judging.result import StreamResult
from conformance.recordings import rechunk
from conformance.rules.verdicts import Verdict

CHUNK = {
    "object": "chat.completion.chunk",
    "id": "chatcmpl-1",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": "x"}, "finish_reason": None}
    ],
}
# No finish and no [DONE].
BROKEN = f"data: {json.dumps(CHUNK)}\n\n"
SPEAKS = ["--dialect", "openai.chat", "--profile", "openai"]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.sse"
    path.write_text(BROKEN, encoding="utf-8")
    return path


@pytest.fixture
def known(broken: Path, tmp_path: Path) -> Path:
    path = tmp_path / "known.yaml"
    arguments = ["baseline", str(broken), "-o", str(path), "--target", "m-1", *SPEAKS]
    assert main([*arguments, "--reason", "It is cut."]) == 0
    return path


def check(path: Path, known: Path, *options: str) -> int:
    return main(["check", str(path), "--expected-failures", str(known), *SPEAKS, *options])


def test_what_was_written_makes_the_run_pass(broken: Path, known: Path) -> None:
    assert main(["check", str(broken), *SPEAKS]) == 1
    assert check(broken, known) == 0
    assert check(broken, known, "--strict") == 0


def test_one_entry_less_or_more_fails(broken: Path, known: Path) -> None:
    document = yaml.safe_load(known.read_text())
    entries = document["entries"]
    assert len(entries) > 1
    for changed in (entries[1:], [*entries, {**entries[0], "exchange": "other"}]):
        known.write_text(yaml.safe_dump({**document, "entries": changed}))
        assert check(broken, known) == 1


def test_no_file_is_replaced(broken: Path, known: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = known.read_text()
    assert main(["baseline", str(broken), "-o", str(known), "--reason", "New."]) == 2
    assert capsys.readouterr().err.endswith("already exists (--update keeps its reasons)\n")
    assert known.read_text() == before


def test_an_update_keeps_reasons_and_the_heading(
    broken: Path, known: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = load_baseline(known)
    text = known.read_text().replace("It is cut.", "Because.")
    first = text.index("  - rule:")
    second = text.index("  - rule:", first + 1)
    known.write_text("# Why all this.\n" + text[:first] + text[second:])
    capsys.readouterr()
    arguments = ["baseline", str(broken), "-o", str(known), "--update", *SPEAKS]
    assert main([*arguments, "--reason", "New."]) == 0
    assert known.read_text().startswith("# Why all this.\ntarget: m-1\n")
    reasons = {entry.rule: entry.reason for entry in load_baseline(known).entries}
    assert reasons.pop(whole.entries[0].rule) == "New."
    assert set(reasons.values()) == {"Because."}
    out = capsys.readouterr().out
    assert f"+ {whole.entries[0].rule}  m-1 broken\n" in out
    assert out.endswith(f"known.yaml: 1 new, {len(reasons)} kept, 0 dropped\n")


def test_nothing_is_written_where_something_was_not_judged(tmp_path: Path, broken: Path) -> None:
    (tmp_path / "empty.sse").write_text("")
    target = tmp_path / "new.yaml"
    arguments = [str(broken), str(tmp_path / "empty.sse"), "-o", str(target), "--reason", "Known."]
    assert main(["baseline", *arguments, *SPEAKS]) == 2
    assert not target.exists()


def test_reason_is_needed(tmp_path: Path, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new.yaml"
    assert main(["baseline", str(broken), "-o", str(target), *SPEAKS]) == 2
    assert "new entries need a reason; the first is wire/chat/" in capsys.readouterr().err
    assert not target.exists()


def test_bad_baseline_stops_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("entries:\n  - {rul: x}\n")
    assert check(tmp_path / "missing.sse", known) == 2
    assert "known.yaml:2:6: unknown key 'rul'" in capsys.readouterr().err


def test_rechunk_judges_again(broken: Path, known: Path) -> None:
    assert check(broken, known, "--rechunk", "2") == 0


def test_a_verdict_that_depends_on_chunks_is_4(
    broken: Path, known: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = iter([Verdict.PASS, *[Verdict.FAIL] * 1000])

    def unsteady(*_: object, **__: object) -> list[StreamResult]:
        judged = {"a/b/c": next(verdicts)}
        return [StreamResult("x", 1, "openai.chat", "strict", True, judged, ())]

    monkeypatch.setattr(rechunk, "check_trusted", unsteady)
    assert check(broken, known, "--rechunk", "1") == 4
    assert "the result depends on how the bytes are cut" in capsys.readouterr().err


def test_rules_of_a_version_are_a_choice(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(broken), *SPEAKS, "--rules-as-of", "0.0.9"]) == 5
    assert "rules are newer than 0.0.9 and left out" in capsys.readouterr().out
    assert main(["check", str(broken), *SPEAKS, "--rules-as-of", "0.1.0"]) == 1
    assert main(["check", str(broken), *SPEAKS, "--rules-as-of", "soon"]) == 2


def test_lint_reads_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "chat_thinking.sse"
    path.write_text(BROKEN, encoding="utf-8")
    (tmp_path / "known.yaml").write_text("entries: [{rule: x, target: t, exchange: e}]\n")
    assert main(["lint", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "chat_thinking.sse: error: the file's name says 'thinking'" in out
    assert "known.yaml:1:11: error: key 'reason' is missing" in out
    assert out.endswith("2 errors, 0 warnings\n")


def test_prune_deletes_fixed(broken: Path, known: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = load_baseline(known).entries
    known.write_text("# Ours.\n" + known.read_text())
    call = ["baseline", str(broken), "-o", str(known), *SPEAKS, "--prune"]
    assert main(call) == 0
    assert [each.rule for each in load_baseline(known).entries] == [each.rule for each in before]
    whole = BROKEN + BROKEN.replace('"finish_reason": null', '"finish_reason": "stop"')
    broken.write_text(f"{whole}data: [DONE]\n\n")
    assert check(broken, known) == 1
    assert "to delete: " in capsys.readouterr().out
    assert main(call) == 0
    assert known.read_text().startswith("# Ours.\n")
    assert load_baseline(known).entries == ()
    assert main([*call, "--update"]) == 2
