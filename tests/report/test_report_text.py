from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from conformance.judging.group_id import group_id
from conformance.judging.result import (
    ContextLine,
    JudgedCall,
    Report,
    VerdictChange,
)
from conformance.report.printable import columns
from conformance.report.text import render
from conformance.rules.verdicts import Level, Verdict
from tests.report.made import finding, stream

GOLDEN = """\
ogx.cassette.jsonl, exchange 1, openai.responses, profile ogx
FAIL MUST summary/lifecycle/part-lifecycle  ogx.cassette.jsonl:26 (event 8, byte 2641)
  says      A part opens, streams text, states its text, closes.
  found     expected text.delta or text.done after text.delta (event 7), got part.done
  slice     output_index=0, summary_index=1
         7  text.delta  {"delta":"w0"}
  >      8  part.done   {"part":{}}
            ^^^^^^^^^
         9  item.done   {"item":{}}
  source    https://example.org/spec
            "A part closes once."
            observed: 33 of 33 streams
  hint      A profile may allow it (knob summary_carrier).
  id        3f2a90
  also      FAIL SHOULD wire/order: too early [output_index=0]

1 rule over 1 stream: 1 FAIL (1 MUST); 2 findings
"""


def test_findings_on_one_event_are_one_block() -> None:
    also = finding(
        rule="wire/order",
        level=Level.SHOULD,
        message="too early",
        slice={"output_index": 0},
        expected=(),
        got="",
        after="",
    )
    # The graver one comes first, whatever the order in which they were found.
    judged = stream(also, finding(), verdicts={"summary/lifecycle/part-lifecycle": Verdict.FAIL})
    assert render(Report((judged,))) == GOLDEN.replace("(1 MUST)", "(1 MUST, 1 SHOULD)")


def test_what_broke_the_order_leads_its_event() -> None:
    differs = finding(rule="a/first/by-name", message="the text differs", after="")
    shown = render(Report((stream(differs, finding()),)))
    assert shown.index("summary/lifecycle/part-lifecycle") < shown.index("a/first/by-name")


def test_a_conforming_report_is_one_line() -> None:
    report = Report((stream(verdicts={"a/b/c": Verdict.PASS, "a/b/d": Verdict.VACUOUS}),))
    assert render(report) == "2 rules over 1 stream: 1 PASS, 1 VACUOUS\n"


def test_an_empty_report_says_so() -> None:
    assert render(Report()) == "nothing was checked\n"


def test_verbose_gives_a_verdict_per_rule_with_its_reason() -> None:
    verdicts = {"a/b/c": Verdict.VACUOUS, "a/b/long": Verdict.PASS}
    judged = stream(verdicts=verdicts, reasons={"a/b/c": "no reasoning item came"})
    text = render(Report((judged,)), verbose=True)
    assert "  PASS           a/b/long\n" in text
    assert "  VACUOUS        a/b/c     no reasoning item came\n" in text


def test_a_rule_is_reported_in_full_once() -> None:
    other = {"expected": ("item.done",), "got": "end of stream", "after": ""}
    message = "expected item.done, got end of stream"
    later = finding(event=20, slice={}, id="77", message=message, **other)
    report = Report((stream(finding(), later),))
    assert render(report).count("  says ") == 1
    assert render(report).count("  hint ") == 1
    assert render(report).count("  found ") == 2
    assert render(report, verbose=True).count("  says ") == 2


def test_a_flood_of_findings_is_cut_and_counted() -> None:
    findings = (finding(event=n, rule=f"a/b/{n}", slice={}) for n in range(1, 1001))
    report = Report((stream(*findings),))
    text = render(report)
    assert text.count("  found ") == 40
    assert "960 more groups of findings (-v shows all)" in text
    assert render(report, verbose=True).count("  found ") == 1000


def test_what_follows_is_cut_and_counted() -> None:
    text = render(Report((stream(*(finding(rule=f"a/b/{n}") for n in range(50))),)))
    assert text.count("  also ") == 12
    assert "  then      37 more groups of findings (-v shows all)" in text


GROUPED = """\
note: slow (16 streams)
FAIL MUST summary/lifecycle/part-lifecycle  ogx.cassette.jsonl:26 (event 8, byte 2641)
  stream    exchange 1, openai.responses, profile ogx
  in        8 of 16 streams, 9 findings, only streamed (8 of 8, 0 of 8 in bodies)
  says      A part opens, streams text, states its text, closes.
  found     expected text.delta or text.done after text.delta (event 7), got part.done
  slice     output_index=0, summary_index=1
  id        3f2a90, group GROUP
  then      FAIL SHOULD wire/order: too early

1 rule over 16 streams: 1 FAIL (1 MUST, 1 SHOULD); 10 findings in 2 groups
"""


def test_a_group_is_reported_once_over_all_streams() -> None:
    plain = {"context": (), "source": (), "hint": ""}
    found = finding(**plain)
    late = finding(event=20, **plain)
    empty = {"slice": {}, "expected": (), "got": "", "after": ""}
    follows = replace(late, rule="wire/order", level=Level.SHOULD, message="too early", **empty)
    facts = {"notes": ("slow",), "verdicts": {found.rule: Verdict.FAIL}}
    streams = [
        stream(found, late, follows, framing="sse", **facts),
        *(stream(found, exchange=n, framing="sse", **facts) for n in range(2, 9)),
    ]
    passed = {found.rule: Verdict.PASS}
    bodies = [
        stream(exchange=n, framing="body", notes=("slow",), verdicts=passed) for n in range(9, 17)
    ]
    assert render(Report((*streams, *bodies))) == GROUPED.replace("GROUP", group_id(found))


def test_verbose_reports_every_finding_and_where_its_group_began() -> None:
    text = render(Report((stream(finding()), stream(finding(line=9), exchange=2))), verbose=True)
    assert text.count("  found ") == text.count("  in        2 of 2 streams") == 2
    assert text.count("  first     ogx.cassette.jsonl:26 (event 8, byte 2641)") == 1


def test_an_assumed_profile_is_a_warning() -> None:
    assumed = stream(named=False, profile="strict", verdicts={"a/b/c": Verdict.PASS})
    text = render(Report((assumed, assumed, stream())))
    wanted = (
        "warning: profile strict (openai.responses) was assumed for 2 streams;"
        " name one with --profile"
    )
    assert text.splitlines()[0] == wanted


def test_files_that_could_not_be_judged_are_named() -> None:
    report = Report((stream(verdicts={"a/b/c": Verdict.PASS}),), errors=("x.sse: no such file",))
    first, last = render(report).splitlines()
    assert first == "error: x.sse: no such file"
    assert last.endswith("1 PASS; 1 file could not be judged")


def test_notes_are_reported_without_findings() -> None:
    judged = stream(notes=("timing rules left out: no clock",), verdicts={"a/b/c": Verdict.PASS})
    assert "note: timing rules left out: no clock\n" in render(Report((judged,)))


def test_notes_are_one_line_with_a_count() -> None:
    report = Report((stream(finding(), notes=("one", "two", "three")),))
    lines = render(report).splitlines()
    assert lines[1] == "note: one; 2 more notes (-v shows them)"
    assert lines[2].startswith("FAIL MUST ")
    verbose = render(report, verbose=True).splitlines()
    assert verbose[1:4] == ["note: one", "note: two", "note: three"]


def test_what_one_must_know_stands_above_the_findings() -> None:
    report = Report((stream(finding(), named=False),), notes=("1 file was skipped",))
    lines = render(report).splitlines()
    places = [
        lines.index(next(each for each in lines if each.startswith(begun)))
        for begun in ("warning: profile", "FAIL MUST", "note: 1 file was skipped", "1 rule")
    ]
    assert places == sorted(places)
    assert places[-1] == len(lines) - 1


@pytest.mark.parametrize(
    ("command", "again"),
    [
        (("check", "a.sse"), "conformance check 'my dir/a.sse' --rule wire/order"),
        (
            ("check", "a", "--suite", "own.yaml", "--strict", "--profile=groq", "-v"),
            "conformance check 'my dir/a.sse' --rule wire/order --suite own.yaml --profile=groq",
        ),
        (("run", "--url", "http://h"), ""),
    ],
)
def test_group_names_the_command_that_shows_it_again(command: tuple[str, ...], again: str) -> None:
    call = JudgedCall("2026-01-01T00:00:00.000+00:00", 1.0, ("conformance", *command))
    judged = stream(finding(rule="wire/order"), file="my dir/a.sse")
    text = render(Report((judged,), call=call))
    assert text.count("  again ") == bool(again)
    assert again in text


def test_colour_only_wraps_words() -> None:
    report = Report((stream(finding(), named=False),), errors=("x: y",))
    coloured = render(report, colour=True, verbose=True)
    assert "\x1b[1;31mFAIL MUST\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(report, verbose=True)


def test_wire_text_cannot_reach_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\r\nFAIL\u202e\ud800"
    hostile = finding(
        rule=evil,
        message=evil,
        got=evil,
        after=evil,
        expected=(evil, evil),
        slice={evil: evil},
        says=evil,
        hint=evil,
        source=({"spec": evil, "quote": evil, evil: evil},),
        context=(ContextLine(1, evil, evil, at=True),),
        id=evil,
    )
    judged = stream(hostile, file=evil, dialect=evil, profile=evil, notes=(evil,), named=False)
    judged_again = stream(
        hostile,
        hostile,
        scenario=evil,
        role=evil,
        verdicts={evil: Verdict.ERROR},
        reasons={evil: evil},
    )
    report = Report((judged, judged_again), errors=(evil,))
    for verbose in (False, True):
        text = render(report, verbose=verbose)
        assert all(c.isprintable() or c == "\n" for c in text)
        assert "\nFAIL\\u202e" not in text


def test_verbose_says_who_changed_a_verdict_and_why() -> None:
    not_applicable = Verdict.NOT_APPLICABLE
    judged = stream(
        verdicts={"a": not_applicable, "b": Verdict.PASS, "c": not_applicable, "d": Verdict.FAIL},
        reasons={"a": "it is no stream", "c": "off", "d": ""},
        changes=(
            VerdictChange("c", None, not_applicable, "profile", "off"),
            VerdictChange("a", Verdict.FAIL, not_applicable, "http status", "it is no stream"),
            VerdictChange("b", not_applicable, Verdict.PASS, "comparisons", ""),
            VerdictChange(
                "d", Verdict.FAIL, Verdict.FAIL, "baseline", "expected, known (b.yaml:3)"
            ),
        ),
    )
    text = render(Report((judged,)), verbose=True)
    assert "  NOT-APPLICABLE a  (was FAIL; http status: it is no stream)\n" in text
    assert "  PASS           b\n" in text
    assert "  NOT-APPLICABLE c  off\n" in text
    assert "  FAIL           d  (baseline: expected, known (b.yaml:3))\n" in text
    assert "was" not in render(Report((judged,)))


def test_frames_fit_a_narrow_terminal() -> None:
    context = (ContextLine(8, "part.done", "x" * 150, at=True),)
    report = Report((stream(finding(context=context)),))
    (wide, narrow, tiny) = (
        next(line for line in render(report, width=width).splitlines() if "xxx" in line)
        for width in (0, 60, 5)
    )
    assert wide.count("x") == 150
    assert (len(narrow), narrow.count("…"), narrow[-1]) == (60, 1, "x")
    assert tiny.count("x") == 19
    assert "x" * 150 in render(report, width=60, verbose=True)


def test_frames_and_their_marks_fit_whatever_the_characters_take() -> None:
    context = (
        ContextLine(7, "思" * 40, "text"),
        ContextLine(8, "response.reasoning_summary_part.added" * 3, "思考" * 60, at=True),
    )
    report = Report((stream(finding(context=context)),))
    lines = render(report, width=80).splitlines()
    (marked,) = (at for at, line in enumerate(lines) if line.startswith("  > "))
    assert [columns(line) <= 80 for line in lines[marked - 1 : marked + 2]] == [True] * 3
    assert columns(lines[marked]) >= 78
    assert lines[marked + 1].strip() == "^" * (80 - 14 - 20)


def test_files_that_were_skipped_are_named_on_request() -> None:
    report = Report((stream(finding()),), passed_over=("a/notes.txt", "a/b\n.log"))
    assert "skipped: " not in render(report)
    assert "\nskipped: a/notes.txt\nskipped: a/b\\n.log\n" in render(report, verbose=True)
