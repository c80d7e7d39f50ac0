"""Tables of requirements: what they mean, what is refused and where, and what ships."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance.cli import main
from conformance.core import shipped
from conformance.core.errors import SpecError, UsageError
from conformance.rules import document
from conformance.rules.verdicts import Verdict
from conformance.systems import (
    ReportStream,
    System,
    find_system,
    lint_systems,
    read_streams,
    read_system,
    system_names,
    verdict_of,
)
from tests.schemas import published_schema
from tests.systems import matrix, pages
from tests.systems.contradictions import load_contradictions, unknown_names
from tests.tables import read_table

FOLDER = shipped.specs() / "systems"
CASES = re.compile(r"\bcases? `")
CASE = re.compile(r"`([a-z]+(?:-[a-z]+)+)`")
HEAD = """\
system: own
title: A system
documents: {paper: A paper}
presets: [{name: mine, side: client, profile: strict}, {name: yours, side: server, profile: strict}]
requirements:
"""
ONE = """\
  - id: one
    says: It is so.
    source: {document: paper, at: page 1}
    side: client
"""
RULED = HEAD + ONE + "    rules: [thinking/start/once]\n"


def read(text: str) -> System:
    return read_system(document.parse(text, "own.yaml"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_tables_fit_the_schema(path: Path) -> None:
    errors = published_schema("system.schema.json").iter_errors(document.load(path).plain())
    assert [f"{error.instance_path}: {error.message}" for error in errors] == []


def test_shipped_tables_name_only_what_there_is() -> None:
    assert lint_systems([FOLDER]) == []
    assert list(unknown_names(matrix.contradictions())) == []


@pytest.mark.parametrize("name", system_names())
def test_every_shipped_requirement_has_rules_or_a_reason(name: str) -> None:
    system = find_system(name)
    assert system.name == name
    assert system.requirements
    for each in system.requirements:
        assert bool(each.rules) != bool(each.reason)


@pytest.mark.parametrize("name", system_names())
def test_every_shipped_document_is_cited(name: str) -> None:
    system = find_system(name)
    assert set(system.documents) == {each.source.document for each in system.requirements}


def test_cases_that_a_reason_names_are_there() -> None:
    files = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
    known = {case["id"] for file in files for case in read_table(file)}
    reasons = [each.reason for name in system_names() for each in find_system(name).requirements]
    named = {case for reason in reasons if CASES.search(reason) for case in CASE.findall(reason)}
    assert named
    assert named <= known


def test_page_is_written_from_the_tables_of_today() -> None:
    text = "stale: python -m tests.systems.pages"
    assert pages.PAGE.read_text(encoding="utf-8") == pages.page(), text


def test_requirement_is_judged_by_the_presets_of_its_side() -> None:
    (one,) = read(RULED).requirements
    assert (one.id, one.verdict, one.reason) == ("own/one", Verdict.PASS, "")
    assert [preset.name for preset in one.presets] == ["mine"]
    (both,) = read(RULED.replace("side: client\n    rules", "side: both\n    rules")).requirements
    assert [preset.name for preset in both.presets] == ["mine", "yours"]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (HEAD + ONE, "6:5", "expected either rules that judge it, or the reason"),
        (RULED + "    reason: So.\n", "6:5", "expected either rules that judge it, or the reason"),
        (RULED + ONE + "    reason: So.\n", "11:9", "'own/one' already appears in line 6"),
        (
            HEAD + ONE + "    reason: So.\n    scenarios: [think]\n",
            "11:5",
            "'scenarios' says nothing where there are no rules",
        ),
        (RULED.replace("document: paper", "document: papers"), "8:24", "expected one of paper"),
        (RULED + "    presets: [mien]\n", "11:15", "no preset 'mien'"),
        (RULED + "    verdict: GOOD\n", "11:14", "expected one of FAIL"),
        (RULED + "    rulez: [a]\n", "11:5", "unknown key 'rulez'"),
        (RULED.replace("[thinking/start/once]", "[]"), "10:12", "expected at least one"),
        (RULED.replace("name: yours", "name: mine"), "4:63", "preset 'mine' appears twice"),
        (RULED.replace("id: one", "id: One"), "6:9", "expected lower-case words joined by -"),
    ],
)
def test_what_is_wrong_is_refused_where_it_stands(text: str, place: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text)
    assert str(caught.value).startswith(f"own.yaml:{place}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("    rules: [thinking/start/onec]\n", "no rule 'thinking/start/onec'"),
        ("    rules: [harness/ending]\n    scenarios: [thinkk]\n", "no scenario 'thinkk'"),
        ("    rules: [harness/ending]\n    scenarios: [think/streem]\n", "no scenario 'think/str"),
    ],
)
def test_names_of_nothing_are_linted(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD + ONE + line, "utf-8")
    assert main(["lint", str(path)]) == 2
    out = capsys.readouterr().out
    assert f"{path}:6:5: error: there is {message}" in out
    assert "1 error, 0 warnings" in out


def test_unknown_profile_is_linted(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(RULED.replace("profile: strict}, ", "profile: strikt}, "), "utf-8")
    (problem,) = lint_systems([path])
    assert (problem.message, problem.place.line) == (
        "there is no profile 'strikt' (did you mean 'strict'?)",
        4,
    )


def test_own_scenarios_profiles_and_rules_are_known_next_to_a_table(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "mine.yaml").write_text(
        "scenario: mine\ntitle: T\nsteps: [{role: plain, openai.chat: {}}]\n", "utf-8"
    )
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "ours.yaml").write_text(
        "profile: ours\ndialect: openai.chat\nextends: strict\n", "utf-8"
    )
    table = RULED.replace("profile: strict}]", "profile: ours}]") + "    scenarios: [mine/plain]\n"
    (tmp_path / "own.yaml").write_text(table, "utf-8")
    assert lint_systems([tmp_path]) == []


AXIS = """\
contradictions: Here
axes:
  - axis: Is thinking shown?
    does: {opal: "yes"}
    rules: [thinking/start/once]
    fails: {opal: {opal: [thinking/start/once]}}
"""


def axes_lint(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "axes.yaml"
    path.write_text(text, "utf-8")
    try:
        problems = list(unknown_names(load_contradictions(path)))
    except SpecError as err:
        return [f"{err.place.line if err.place else None}: {err.message}"]
    return [f"{problem.place.line}: {problem.message}" for problem in problems]


def test_axes_say_which_rules_fail_in_which_cell(tmp_path: Path) -> None:
    assert axes_lint(tmp_path, AXIS) == []
    listed = load_contradictions(tmp_path / "axes.yaml")
    assert listed.failing("opal", "opal") == {"thinking/start/once"}
    assert listed.failing("opal", "openhands-sdk") == frozenset()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{opal: [", "{opel: [", "3: there is no preset 'opel'"),
        ("fails: {opal:", "fails: {opel:", "3: there is no profile 'opel'"),
        ('{opal: "yes"}', '{opel: "yes"}', "3: there is no system 'opel'"),
        ("    fails:", "    knobs: [markerz]\n    fails:", "3: there is no knob 'markerz'"),
        ("[thinking/start/once]}}", "[thinking/start/ended]}}", "6: expected one of thinking"),
        ("    fails: {opal: {opal: [thinking/start/once]}}\n", "", "3: expected what fails"),
    ],
)
def test_axes_are_linted(old: str, new: str, message: str, tmp_path: Path) -> None:
    (line,) = axes_lint(tmp_path, AXIS.replace(old, new))
    assert line.startswith(message)


def stream(rule: str, verdict: Verdict, **where: Any) -> ReportStream:
    return ReportStream(verdicts={rule: verdict}, **where)


@pytest.mark.parametrize(
    ("side", "streams", "verdict"),
    [
        ("client", [], None),
        ("client", [{"view": "client"}], Verdict.PASS),
        ("client", [{"view": "wire"}], None),
        ("server", [{"view": "wire"}], Verdict.PASS),
        ("both", [{"view": "wire"}], Verdict.PASS),
    ],
)
def test_verdict_is_of_the_requested_side(
    side: str, streams: list[dict[str, str]], verdict: Verdict | None
) -> None:
    (one,) = read(RULED.replace("side: client\n    rules", f"side: {side}\n    rules")).requirements
    found = [stream("thinking/start/once", Verdict.PASS, **each) for each in streams]
    assert verdict_of(one, found) is verdict


def test_verdict_is_the_worst_of_its_rules_in_its_scenarios() -> None:
    text = RULED.replace("once]", "once, thinking/start/ended]") + "    scenarios: [think, a/b*]\n"
    (one,) = read(text.replace("side: client\n    rules", "side: server\n    rules")).requirements
    found = [
        stream("thinking/start/once", Verdict.VACUOUS, scenario="think", role="stream"),
        stream("thinking/start/ended", Verdict.PASS, scenario="a/bc", role="1"),
        stream("thinking/start/once", Verdict.ERROR, scenario="tools", role="stream"),
        stream("wire/sse/utf8", Verdict.ERROR, scenario="think", role="stream"),
    ]
    assert verdict_of(one, found) is Verdict.PASS
    worse = stream("thinking/start/once", Verdict.FAIL, scenario="think", role="body")
    assert verdict_of(one, [*found, worse]) is Verdict.FAIL


def report(path: Path, verdict: str = "PASS", version: str = "1.0") -> Path:
    seen = {"view": "client", "verdicts": {"thinking/start/once": verdict}, "findings": []}
    path.write_text(json.dumps({"report": version, "streams": [seen]}), "utf-8")
    return path


def test_requirements_show_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "own.yaml"
    table.write_text(RULED + ONE.replace("id: one", "id: two") + "    reason: Unseen.\n", "utf-8")
    first, second = report(tmp_path / "1.json"), report(tmp_path / "2.json", "FAIL")
    listed = ["list", "--system", str(table)]

    assert main([*listed, "--report", str(first)]) == 0
    assert capsys.readouterr().out == (
        "PASS  own/one  client  It is so.  thinking/start/once\n"
        "-     own/two  client  It is so.  not judged: Unseen.\n"
        "2 requirements: 1 PASS, 1 not judged\n"
    )
    both = ["--report", str(first), "--report", str(second), "--format", "json"]
    assert main([*listed, *both]) == 0
    rows = json.loads(capsys.readouterr().out)["requirements"]
    assert rows[0] == {
        "id": "own/one",
        "says": "It is so.",
        "side": "client",
        "source": "A paper: page 1",
        "rules": ["thinking/start/once"],
        "reason": None,
        "verdict": "FAIL",
    }
    assert (rows[1]["reason"], rows[1]["verdict"]) == ("Unseen.", None)


def test_shipped_requirements_fit_the_schema_of_lists(capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", "list"])
    listing = json.loads(capsys.readouterr().out)
    main(["list", "--system", "opal", "--format", "json"])
    jsonschema_rs.validate(listing, json.loads(capsys.readouterr().out))
    main(["list", "systems", "--format", "json"])
    listed = json.loads(capsys.readouterr().out)
    jsonschema_rs.validate(listing, listed)
    assert [each["name"] for each in listed["systems"]] == list(system_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--system", "opel"],
            "no system 'opel', neither shipped nor a file (did you mean 'opal'?)",
        ),
        (["--system", "nothing.yaml"], "nothing.yaml: cannot read the file"),
        (["--report", "r.json"], "--report goes with --system NAME"),
        (["rules", "--system", "opal"], "--system goes with --report and --format only"),
    ],
)
def test_wrong_lists_of_a_system_are_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no report in JSON"),
        (b"[" * 100_000, "no report in JSON"),
        (b'{"report": "1.0"}', "no report in JSON: Object missing required field `streams`"),
        (
            b'{"report": "1.0", "streams": [{"verdicts": {"a": "GOOD"}}]}',
            "Invalid enum value 'GOOD'",
        ),
        (b'{"report": "2.0", "streams": []}', "expected a report of version 1, got '2.0'"),
        (b'{"report": "\xff", "streams": []}', "no report in JSON"),
    ],
)
def test_no_report_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(data)
    with pytest.raises(SpecError) as caught:
        read_streams(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_report_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the report"):
        read_streams(tmp_path / "none.json")
