from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from msgspec.structs import replace

from conformance.judging.result import (
    AppliedBaseline,
    FindingExcuse,
    Report,
    finding_key,
)
from conformance.recordings.check import check_paths
from conformance.report.markdown import render
from conformance.rules.verdicts import Level, Verdict
from tests.report.hostile import hostile_recording
from tests.report.made import finding, stream
from tests.report.test_report_json import REPORTS

MOST_OF_A_STEP_SUMMARY = 1024 * 1024


def test_a_finding_is_reported_in_full() -> None:
    text = render(Report((stream(finding()),)))
    assert "### FAIL MUST `summary/lifecycle/part-lifecycle`" in text
    assert "- at `ogx.cassette.jsonl:26 (event 8, byte 2641)`" in text
    assert "- slice: `output_index=0, summary_index=1`" in text
    assert ">      8  part.done" in text
    assert "- source: observed: 33 of 33 streams" in text


def test_the_table_counts_verdicts_by_stream() -> None:
    one = stream(verdicts={"a/b/c": Verdict.PASS, "a/b/d": Verdict.PASS, "a/b/e": Verdict.VACUOUS})
    lines = render(Report((one,))).splitlines()
    assert "| stream | PASS | VACUOUS |" in lines
    assert any(line.endswith("| 2 | 1 |") for line in lines)


def test_an_expected_finding_says_why() -> None:
    one = stream(finding())
    excuses = {finding_key(one, one.findings[0]): FindingExcuse("known", "b.yaml:3")}
    text = render(Report((one,), baseline=AppliedBaseline("b.yaml", excuses)))
    assert "part-lifecycle` (expected)" in text
    assert "- expected: known (b.yaml:3)" in text


def test_streams_with_the_gravest_findings_come_first() -> None:
    clean = stream(file="clean.sse", verdicts={"a/b/c": Verdict.PASS})
    mild = stream(finding(level=Level.MAY), file="mild.sse")
    grave = stream(finding(), file="grave.sse")
    text = render(Report((clean, mild, grave)))
    assert text.index("grave.sse") < text.index("mild.sse") < text.index("clean.sse")


def test_it_fits_a_step_summary_however_much_was_found() -> None:
    long = finding(message="x" * 2_000, got="y" * 2_000, slice={"a": "z" * 2_000})
    rules = [replace(long, rule=f"{n}/" * 2000) for n in range(200)]
    full = stream(*rules, exchange=0, file="f" * 5000)
    streams = (full, *(stream(rules[0], exchange=n, file="f" * 5000) for n in range(1, 300)))
    text = render(Report(streams, errors=("e" * 5000,) * 500))
    assert "100 more streams left out." in text
    assert "- then 179 more groups of findings" in text
    assert len(text.encode()) < MOST_OF_A_STEP_SUMMARY


def test_a_stream_writes_no_markup(tmp_path: Path) -> None:
    text = render(check_paths([hostile_recording(tmp_path)]))
    fenced = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", text)
    bare = re.sub(r"(`+)(?!`).*?[^`]\1(?!`)", "", fenced)
    ours = r"<details><summary>\d+ more places?</summary>|</details>"
    assert "<" not in re.sub(ours, "", bare)
    assert "](" not in bare.replace(r"\](", "")
    assert "@" not in bare
    assert [line for line in bare.splitlines() if re.match("#+ ", line)] == [
        line for line in bare.splitlines() if re.match("# Conf|## [FCSN]|### (FAIL|ERROR) ", line)
    ]


@given(report=REPORTS)
def test_any_report_is_printable_line_by_line(report: Report) -> None:
    assert all(line.isprintable() for line in render(report).split("\n"))


def test_a_group_is_one_section_with_what_follows_and_all_places() -> None:
    also = finding(rule="wire/order", level=Level.SHOULD, message="came 3 times")
    streams = tuple(stream(finding(), also, exchange=n) for n in range(1, 30))
    text = render(Report((*streams, stream(finding(), exchange=30))))
    assert text.count("### FAIL") == 1
    assert "- in 30 of 30 streams\n- at `ogx.cassette.jsonl:26 (event 8, byte 2641)`" in text
    assert "- also FAIL SHOULD `wire/order`: came 3 times" in text
    assert "(in 29 of 29 streams)" in text
    assert "<details><summary>29 more places</summary>" in text
    assert "- 9 more\n" in text


def test_places_without_lines_are_told_apart_by_their_steps() -> None:
    found, run = finding(line=None), "openai.chat/think"
    runs = [
        stream(found, file=run, exchange=n, scenario="think", role=role)
        for n, role in enumerate(("stream", "body"), 1)
    ]
    assert "- `openai.chat/think (event 8, byte 2641), think/body`" in render(Report(tuple(runs)))
    plain = [stream(found, file="a.bin", exchange=n) for n in (1, 2)]
    assert "- `a.bin (event 8, byte 2641), exchange 2`" in render(Report(tuple(plain)))
