from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.judging.result import (
    AppliedBaseline,
    FindingExcuse,
    JudgedCall,
    ReferencedEvent,
    Report,
    finding_key,
)
from conformance.recordings.check import check_paths
from conformance.report import write
from conformance.report.github import VARIABLE, render
from conformance.rules.verdicts import Level, Verdict
from tests.report.hostile import hostile_recording
from tests.report.made import finding, stream


@pytest.fixture(autouse=True)
def no_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run in a workflow themselves."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("level", "kind"), [(Level.MUST, "error"), (Level.SHOULD, "warning"), (Level.MAY, "notice")]
)
def test_a_finding_is_annotated_at_its_line(level: Level, kind: str) -> None:
    line, last = render(Report((stream(finding(level=level)),))).splitlines()
    place = "file=ogx.cassette.jsonl,line=26"
    title = f"title=FAIL {level} summary/lifecycle/part-lifecycle"
    assert line.startswith(f"::{kind} {place},{title}::A part opens, streams text")
    assert last.startswith("conformance: 1 rule over 1 stream")


def test_the_answer_that_a_request_brings_back_is_named_below() -> None:
    gave = ReferencedEvent("talk.har", 1, 7, 12, None, "thinking.end", "s", side="answer", turn=1)
    line = render(Report((stream(finding(upstream=gave)),))).splitlines()[0]
    assert line.endswith("%0Aanswer: talk.har:12 (exchange 1, turn 1, event 7)")


def test_what_could_end_a_property_is_escaped() -> None:
    found = finding(rule="a,b:c%", message="100%\n::error::injected")
    line = render(Report((stream(found),))).splitlines()[0]
    assert "title=FAIL MUST a%2Cb%3Ac%25::" in line
    assert r"100%25\n::error::injected" in line


def test_a_file_elsewhere_is_not_named_as_one_of_the_repository() -> None:
    line = render(Report((stream(finding(), file="/elsewhere/x.sse"),))).splitlines()[0]
    assert line.startswith("::error title=FAIL")
    assert "/elsewhere/x.sse" in line


def test_paths_are_counted_from_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    line = render(Report((stream(finding(), file="x.sse"),))).splitlines()[0]
    assert line.startswith("::error file=sub/x.sse,line=26,")


def test_ten_of_a_kind_are_annotated_and_the_rest_counted() -> None:
    report = Report(tuple(stream(finding(rule=f"a/b/{n}"), exchange=n) for n in range(13)))
    lines = render(report).splitlines()
    assert sum(line.startswith("::error") for line in lines) == 10
    assert lines[-2] == "::notice::3 more groups of findings; the step summary has them"
    assert (
        sum(line.startswith("::error") for line in render(report, verbose=True).splitlines()) == 13
    )


def test_a_group_is_one_annotation_that_names_what_follows() -> None:
    also = finding(rule="wire/order", level=Level.SHOULD, message="100% late")
    streams = tuple(stream(finding(), also, exchange=n) for n in range(1, 17))
    passed = stream(exchange=17, verdicts=dict.fromkeys([finding().rule], Verdict.PASS))
    report = Report((*streams, passed))
    line, last = render(report).splitlines()
    assert "line=26,title=FAIL MUST summary/lifecycle/part-lifecycle%2C in 16 of 17 streams" in line
    assert "%0Aalso FAIL SHOULD wire/order: 100%25 late" in line
    assert last.endswith("32 findings in 2 groups")
    assert len(render(report, verbose=True).splitlines()) == 33


def test_the_gravest_are_annotated_first() -> None:
    mild, grave = stream(finding(level=Level.SHOULD)), stream(finding(), exchange=2)
    kinds = [line.split(" ")[0] for line in render(Report((mild, grave))).splitlines()]
    assert kinds[:2] == ["::error", "::warning"]


def test_what_is_expected_is_not_annotated() -> None:
    one = stream(finding())
    excuses = {finding_key(one, one.findings[0]): FindingExcuse("known", "b.yaml:3")}
    text = render(
        Report((one,), baseline=AppliedBaseline("b.yaml", excuses, stale=("b.yaml:9: gone",)))
    )
    assert text.startswith("::error::stale: b.yaml:9: gone\nconformance: ")


def test_a_stream_cannot_write_commands(tmp_path: Path) -> None:
    report = check_paths([hostile_recording(tmp_path)])
    lines = render(report).splitlines()
    assert len([line for line in lines if line.startswith("::")]) + 1 == len(lines)
    assert all(line.isprintable() for line in lines)


def test_step_summary_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    monkeypatch.setenv(VARIABLE, str(file))
    report = Report((stream(finding()),))
    write(report, shown="json")
    assert file.read_text() == "before\n"
    write(report, shown="github")
    assert file.read_text().startswith("before\n# Conformance\n")
    write(report, f"github={tmp_path / 'a.txt'}")
    assert file.read_text().count("# Conformance\n") == 2


def test_no_variable_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    write(Report(), shown="github")
    assert list(tmp_path.iterdir()) == []


def test_unwritable_summary_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        write(Report(), shown="github")


def test_a_run_that_is_not_saved_has_no_file_to_annotate_and_says_what_to_do() -> None:
    call = JudgedCall("2026-11-29T00:00:00+00:00", 1.0, kept=False)
    found = finding(fix="Keep the part.", line=None)
    line = render(Report((stream(found, file="openai.chat/think"),), call=call)).splitlines()[0]
    assert line.startswith("::error title=FAIL")
    assert line.endswith("%0Afix: Keep the part.")


def test_a_file_that_cannot_be_judged_is_annotated_where_it_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.har").write_text("{")
    errors = ("x.har:3:7: expected a list", "x.har: broken", "gone.har:3: gone", "no path at all")
    settings = ["file=x.har,line=3", "file=x.har,line=1", "", ""]
    lines = render(Report(errors=errors)).splitlines()
    for line, error, at in zip(lines, errors, settings, strict=False):
        assert line == f"::error {at}".rstrip() + f"::{error}"
