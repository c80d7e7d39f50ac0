"""Baselines: what is expected is excused, and whatever no longer holds fails the run."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterable, Mapping
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.baseline.addresses import file_stem
from conformance.baseline.applying import apply_baseline
from conformance.baseline.drafting import draft_baseline, prune_baseline
from conformance.baseline.entries import Baseline, BaselineEntry, fits, load_baseline
from conformance.baseline.linting import lint_baselines
from conformance.baseline.spelling import spell_baseline
from conformance.core.errors import Place, SpecError, UsageError
from conformance.judging.group_id import group_id
from conformance.judging.result import Finding, Report, StreamResult
from conformance.report import render
from conformance.rules.verdicts import Level, Verdict
from tests.plain_results import plain_finding

RULE = "a/b/c"
OTHER = "a/b/d"
TODAY = date(2026, 11, 20)


def finding(rule: str = RULE, id_: str = "f1", level: Level = Level.MUST) -> Finding:
    return plain_finding(rule=rule, id=id_, level=level)


def stream(
    *findings: Finding,
    verdicts: Mapping[str, Verdict] | None = None,
    file: str = "ogx/text.sse",
    **changes: Any,
) -> StreamResult:
    judged = {RULE: Verdict.PASS, **{each.rule: Verdict.FAIL for each in findings}}
    base = StreamResult(
        file=file,
        exchange=1,
        dialect="openai.chat",
        profile="strict",
        named=True,
        verdicts={**judged, **(verdicts or {})},
        findings=findings,
        target="ogx-1.5.0",
    )
    return replace(base, **changes)


def entry(exchange: str = "text", **changes: Any) -> BaselineEntry:
    base = BaselineEntry(RULE, "ogx-1.5.0", exchange, "It is known.", Place("known.yaml", 2, 5))
    return replace(base, **changes)


def applied(streams: Iterable[StreamResult], *entries: BaselineEntry) -> Report:
    report = Report(tuple(streams))
    return apply_baseline(report, Baseline("known.yaml", tuple(entries)), today=TODAY)


def test_a_listed_violation_is_expected() -> None:
    report = applied([stream(finding())], entry())
    assert report.exit_code() == 0
    assert report.unexpected == ()
    assert report.baseline is not None
    assert report.baseline.stale == ()


@pytest.mark.parametrize("level", Level)
def test_an_unlisted_violation_of_any_level_fails(level: Level) -> None:
    report = applied([stream(finding(), finding(OTHER, "f2", level))], entry())
    assert [each.rule for each in report.unexpected] == [OTHER]
    assert report.exit_code() == 1


STALE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # changes of the entry, verdicts of the run, what the report says
    ({}, {RULE: Verdict.PASS}, "passes now"),
    ({}, {RULE: Verdict.INCONCLUSIVE}, "is INCONCLUSIVE now"),
    ({}, {RULE: Verdict.VACUOUS}, "is VACUOUS now"),
    ({}, {RULE: Verdict.NOT_APPLICABLE}, "is NOT-APPLICABLE now"),
    ({"flaky": "1/3"}, {RULE: Verdict.UNTESTABLE}, "is UNTESTABLE now"),
    ({"rule": "a/b/cc"}, {RULE: Verdict.FAIL}, "names a rule that is not there (did you mean"),
    ({"rule": "wire/chat/done-once"}, {RULE: Verdict.FAIL}, "was not selected"),
    ({"target": "ogx-1.5.1"}, {RULE: Verdict.FAIL}, "(did you mean 'ogx-1.5.0'?)"),
    ({"exchange": "test"}, {RULE: Verdict.FAIL}, "(did you mean 'text'?)"),
    ({"finding": "f9"}, {RULE: Verdict.FAIL}, "f9 was expected, f1 came"),
    ({"until": date(2026, 11, 19)}, {RULE: Verdict.FAIL}, "was expected until 2026-11-19 only"),
]


@pytest.mark.parametrize(("changes", "verdicts", "said"), STALE)
def test_an_entry_that_does_not_describe_the_run_is_stale(
    changes: dict[str, Any], verdicts: dict[str, Verdict], said: str
) -> None:
    found = [finding()] if verdicts[RULE] is Verdict.FAIL else []
    report = applied([stream(*found, verdicts=verdicts)], entry(**changes))
    assert report.baseline is not None
    (line,) = report.baseline.stale
    assert line.startswith("known.yaml:2:5: ")
    assert said in line
    assert report.exit_code() == 1


HOLDS: list[tuple[dict[str, Any], Verdict]] = [
    ({"flaky": "1/3"}, Verdict.PASS),
    ({"flaky": "1/3"}, Verdict.FAIL),
    ({"flaky": "1/3"}, Verdict.INCONCLUSIVE),
    ({"until": TODAY}, Verdict.FAIL),
    ({"finding": "f1"}, Verdict.FAIL),
    ({"exchange": "1"}, Verdict.FAIL),
    ({"exchange": "think/plain"}, Verdict.FAIL),
]


@pytest.mark.parametrize(("changes", "verdict"), HOLDS)
def test_an_entry_that_describes_the_run_holds(changes: dict[str, Any], verdict: Verdict) -> None:
    found = [finding()] if verdict is Verdict.FAIL else []
    judged = stream(*found, verdicts={RULE: verdict}, scenario="think", role="plain")
    assert applied([judged], entry(**changes)).exit_code() == 0


def test_a_pinned_entry_excuses_its_own_finding_only() -> None:
    report = applied([stream(finding(), finding(id_="f2"))], entry(finding="f1"))
    assert [each.id for each in report.unexpected] == ["f2"]
    assert report.exit_code() == 1


def test_an_error_is_never_excused() -> None:
    judged = stream(verdicts={RULE: Verdict.ERROR})
    assert applied([judged], entry()).exit_code() == 4
    assert applied([judged], entry(flaky="1/2")).exit_code() == 4


def test_an_unreadable_file_is_never_excused() -> None:
    report = Report((stream(finding()),), errors=("x.sse: is empty",))
    assert apply_baseline(report, Baseline("b", (entry(),)), today=TODAY).exit_code() == 2


def test_an_entry_that_names_several_exchanges_describes_all_of_them() -> None:
    two = [stream(finding()), stream(file="ogx/tool.sse")]
    report = applied(two, entry("1"))
    assert report.baseline is not None
    assert "passes now: take the entry out (ogx/tool.sse)" in report.baseline.stale[0]


def test_views_of_an_exchange_count_as_one() -> None:
    client = stream(finding(), view="client")
    wire = stream(verdicts={RULE: Verdict.NOT_APPLICABLE})
    assert applied([wire, client], entry()).exit_code() == 0


def test_a_recording_without_a_target_has_that_of_the_baseline_or_its_own_name() -> None:
    bare = stream(finding(), target="")
    named = apply_baseline(Report((bare,)), Baseline("b", (entry(),), "ogx-1.5.0"), today=TODAY)
    assert named.exit_code() == 0
    assert applied([bare], entry("1", target="text")).exit_code() == 0


STEMS = [
    ("a/text.sse", "text"),
    ("a/THINK.cassette.jsonl.gz", "THINK"),
    ("x.chunks.txt", "x"),
    ("v1.5.sse", "v1.5"),
    (".sse", ".sse"),
]


@pytest.mark.parametrize(("file", "name"), STEMS)
def test_stem_is_the_name_without_suffixes(file: str, name: str) -> None:
    assert file_stem(file) == name


GOOD = "entries:\n  - {rule: a/b/c, target: t, exchange: x, reason: It is known."


def write(folder: Path, text: str) -> Path:
    path = folder / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entry_for_several_exchanges_is_several_entries(tmp_path: Path) -> None:
    text = "target: t\nentries:\n  - {rule: r, exchange: [a, 2], reason: Known., flaky: 1/3}\n"
    baseline = load_baseline(write(tmp_path, text))
    assert [each.exchange for each in baseline.entries] == ["a", "2"]
    assert {each.target for each in baseline.entries} == {"t"}
    assert baseline.entries[1].place.column == 29


WRONG = [
    (GOOD + ", untill: 2027-01-01}", "2:65", "did you mean 'until'?"),
    (GOOD + ", until: 2027-02-30}", "2:72", "expected a date like 2027-03-01"),
    (GOOD + ", until: 20270101}", "2:72", "expected a string"),
    (GOOD + ", flaky: 3/3}", "2:72", "expected a share like 1/3"),
    (GOOD + ", finding: 12e3}", "2:74", "put it in quotes"),
    (GOOD + "}\n" + GOOD.partition("\n")[2] + "}", "3:40", "already there, in line 2"),
    (GOOD + "}\n" + GOOD.partition("\n")[2] + ", finding: f}", "3:40", "already there"),
    ("entries:\n  - {rule: a, target: t, exchange: x, reason: TODO}", "2:47", "expected a reason"),
    ("entries:\n  - {rule: a, target: t, exchange: x}", "2:5", "'reason' is missing"),
    ("entries:\n  - {rule: a, exchange: x, reason: Known.}", "2:5", "'target' is missing"),
    ("entries:\n  - {rule: a, target: t, exchange: [], reason: K.}", "2:36", "at least one"),
    ("entry: []", "1:1", "did you mean 'entries'?"),
]


@pytest.mark.parametrize(("text", "place", "said"), WRONG)
def test_a_mistake_is_told_with_its_place(text: str, place: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_baseline(write(tmp_path, text))
    assert f"known.yaml:{place}: " in str(caught.value)
    assert said in str(caught.value)


@pytest.fixture(scope="session")
def schema() -> Any:
    text = (importlib.resources.files("conformance.schemas") / "baseline.schema.json").read_text()
    return jsonschema_rs.Draft202012Validator(json.loads(text))


@pytest.mark.parametrize("text", [GOOD + "}", "target: t\nentries: []", GOOD + ", flaky: 1/2}"])
def test_the_schema_takes_what_loads(text: str, schema: Any, tmp_path: Path) -> None:
    load_baseline(write(tmp_path, text))
    schema.validate(yaml.safe_load(text))


# It knows no calendar, no fractions, which words are no reason, and no twins.
BEYOND_THE_SCHEMA = ("02-30", "3/3", "TODO", "12e3", "}\n")


@pytest.mark.parametrize(
    "text", [each for each, *_ in WRONG if not any(word in each for word in BEYOND_THE_SCHEMA)]
)
def test_the_schema_refuses_most_mistakes(text: str, schema: Any) -> None:
    assert not schema.is_valid(yaml.load(text, Loader=yaml.BaseLoader))


def test_a_draft_makes_the_run_pass() -> None:
    report = Report((stream(finding(), finding(OTHER, "f2")), stream(file="ogx/tool.sse")))
    change = draft_baseline(report, Baseline("b"), reason="It is known.")
    assert [(each.rule, each.exchange) for each in change.added] == [
        (RULE, "text"),
        (OTHER, "text"),
    ]
    assert apply_baseline(report, change.baseline, today=TODAY).exit_code() == 0


def test_a_draft_can_pin_the_groups() -> None:
    same, other = replace(finding(), message="got 2"), replace(finding(), message="got none")
    streams = (
        stream(same, other),
        stream(replace(same, id="f7", message="got 3"), file="ogx/b.sse"),
    )
    change = draft_baseline(Report(streams), Baseline("b"), reason="It is known.", pin=True)
    groups = {group_id(same), group_id(other)}
    assert sorted(each.exchange for each in change.added) == ["b", "text", "text"]
    assert {each.finding for each in change.added} == groups
    assert apply_baseline(Report(streams), change.baseline, today=TODAY).exit_code() == 0
    # A finding of another group is news, one with other values is not.
    changed = (stream(replace(same, id="f8", message="got 4"), replace(same, message="got it")),)
    report = apply_baseline(Report(changed), change.baseline, today=TODAY)
    assert [each.message for each in report.unexpected] == ["got it"]


def test_a_finding_that_is_pinned_needs_no_entry_for_its_group() -> None:
    report = Report((stream(finding()),))
    pinned = Baseline("b", (entry(finding="f1"),))
    assert draft_baseline(report, pinned, reason="New.", pin=True).added == ()


def test_stale_entries_of_one_fault_are_one_line() -> None:
    streams = [stream(file=f"ogx/{name}.sse") for name in ("a", "b", "c")]
    report = applied(streams, *(entry(name) for name in ("a", "b", "c")), entry("gone"))
    assert report.baseline is not None
    assert len(report.baseline.stale) == 4
    first, other = report.baseline.stale_groups
    assert first.endswith("ogx-1.5.0 a passes now: take the entry out (and 2 more like it)")
    assert "gone names an exchange that was not checked" in other
    assert render(report, "text").count("stale: ") == 2
    assert render(report, "text", verbose=True).count("stale: ") == 4
    assert len(json.loads(render(report, "json"))["stale"]) == 4


@pytest.mark.parametrize("reason", ["", "  ", "TODO", "t.b.d."])
def test_a_new_entry_needs_a_reason(reason: str) -> None:
    with pytest.raises(UsageError, match="1 new entry needs a reason"):
        draft_baseline(Report((stream(finding()),)), Baseline("b"), reason=reason)


def test_an_update_keeps_what_holds_and_drops_what_does_not() -> None:
    kept = entry(reason="Because.", until=date(2027, 1, 1))
    gone = entry("tool")
    flaky = entry("rt", flaky="1/3")
    streams = (
        stream(finding(), finding(OTHER, "f2")),
        stream(file="ogx/tool.sse"),
        stream(file="ogx/rt.sse"),
    )
    change = draft_baseline(Report(streams), Baseline("b", (kept, gone, flaky)), reason="New.")
    assert kept in change.baseline.entries
    assert flaky in change.baseline.entries
    assert change.dropped == (gone,)
    assert [each.reason for each in change.added] == ["New."]


def test_recordings_that_cannot_be_told_apart_are_refused() -> None:
    twins = (stream(finding(), file="a/text.sse"), stream(file="b/text.sse"))
    with pytest.raises(UsageError, match="is called 'text', too"):
        draft_baseline(Report(twins), Baseline("b"), reason="New.")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ENTRIES = st.builds(
    BaselineEntry,
    rule=TEXTS,
    target=TEXTS,
    exchange=TEXTS,
    reason=TEXTS.map(lambda text: f"because {text}"),
    place=st.just(Place("known.yaml")),
    finding=st.just("") | TEXTS,
    until=st.none() | st.dates(min_value=date(1000, 1, 1)),
    flaky=st.sampled_from(["", "1/3"]),
)


def bare(entries: Iterable[BaselineEntry]) -> set[BaselineEntry]:
    return {replace(each, place=Place("known.yaml")) for each in entries}


@given(st.lists(ENTRIES, max_size=6, unique_by=lambda each: each.key), st.sampled_from(["", "t"]))
def test_what_is_spelled_loads_again(
    tmp_path_factory: pytest.TempPathFactory, entries: list[BaselineEntry], target: str
) -> None:
    path = tmp_path_factory.mktemp("spelled") / "known.yaml"
    path.write_text(
        spell_baseline(Baseline("known.yaml", tuple(entries), target)), encoding="utf-8"
    )
    baseline = load_baseline(path)
    assert bare(baseline.entries) == bare(entries)
    assert baseline.target == target


def test_reports_show_what_was_expected() -> None:
    report = applied([stream(finding())], entry(), entry("gone"))
    brief, whole = render(report, "text"), render(report, "text", verbose=True)
    assert "expected  It is known. (known.yaml:2:5)" in whole
    assert "It is known." not in brief
    assert "stale: known.yaml:2:5: a/b/c in ogx-1.5.0 gone names an exchange" in brief
    assert brief.endswith("1 finding, 1 of them expected; 1 stale entry\n")
    document = json.loads(render(report, "json"))
    assert document["expected"][0] == {
        "file": "ogx/text.sse",
        "exchange": 1,
        "view": "wire",
        "rule": RULE,
        "finding": "f1",
        "reason": "It is known.",
        "entry": "known.yaml:2:5",
    }
    assert len(document["stale"]) == 1
    junit = render(report, "junit")
    assert '<skipped message="expected failure: It is known."' in junit
    assert 'failures="1"' in junit


def test_lint_knows_rules_and_dates(tmp_path: Path) -> None:
    text = "target: t\nentries:\n  - {rule: wire/chat/done-onc, exchange: x, reason: Known.}\n"
    text += "  - {rule: wire/chat/done-once, exchange: x, reason: Known., until: 2026-01-01}\n"
    problems = lint_baselines([write(tmp_path, text)], today=TODAY)
    assert [(each.severity, each.place.line) for each in problems] == [("error", 3), ("warning", 4)]
    assert "did you mean 'wire/chat/done-once'?" in problems[0].message


def test_shipped_baselines_are_clean() -> None:
    assert lint_baselines([Path(__file__).parent.parent / "specs" / "baselines"], today=TODAY) == []


SIDES: dict[str, Any] = {"scenario": "think", "role": "plain"}


def sides(
    *, upstream: Finding | None = None, downstream: Finding | None = None
) -> list[StreamResult]:
    """Both hops of one request of a gateway."""
    far = stream(*filter(None, [downstream]), **SIDES, hop="downstream")
    return [far, stream(*filter(None, [upstream]), **SIDES, hop="upstream", exchange=2)]


@pytest.mark.parametrize("name", ["think/plain", "think/plain/downstream"])
def test_the_far_side_of_a_gateway_is_called_by_its_step_alone_too(name: str) -> None:
    report = applied(sides(downstream=finding()), entry(name))
    assert report.exit_code() == 0


def test_the_near_side_of_a_gateway_is_called_by_its_hop() -> None:
    both = sides(upstream=finding())
    assert applied(both, entry("think/plain/upstream")).exit_code() == 0
    assert applied(both, entry("think/plain")).exit_code() == 1


def test_one_step_in_two_apis_is_told_apart_by_the_api() -> None:
    apis = ("openai.chat", "openai.responses")
    streams = [
        stream(finding(), **SIDES, dialect=api, file=f"{api}/think.cassette.jsonl") for api in apis
    ]
    drafted = draft_baseline(
        Report(tuple(streams)), Baseline("b.yaml"), reason="It is known."
    ).baseline
    names = [each.exchange for each in drafted.entries]
    assert names == [f"{api}/think/plain" for api in apis]
    assert applied(streams, *drafted.entries).exit_code() == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "a/*"},
        {"exchange": "*"},
        {"exchange": "te*"},
        {"target": "ogx-*"},
        {"rule": "*", "target": "*", "exchange": "*"},
        {"exchange": "*", "finding": "f1"},
        {"exchange": "*", "finding": group_id(finding())},
    ],
)
def test_a_star_stands_for_any_text(changes: dict[str, Any]) -> None:
    passing = stream(file="ogx/tool.sse")
    report = applied([stream(finding()), passing], entry(**changes))
    assert report.baseline is not None
    assert report.unexpected == ()
    assert (report.baseline.stale, report.baseline.repaired) == ((), ())
    assert report.exit_code() == 0


@pytest.mark.parametrize(
    "changes", [{"rule": "x/*"}, {"exchange": "z*"}, {"exchange": "*", "finding": "other"}]
)
def test_a_star_that_fits_no_violation_is_stale(changes: dict[str, Any]) -> None:
    report = applied([stream(finding())], entry(**changes))
    assert report.baseline is not None
    assert report.baseline.stale[0].endswith("fits no violation now: take the entry out")
    assert report.exit_code() == 1


def test_a_flaky_star_may_fit_nothing() -> None:
    report = applied([stream()], entry(exchange="*", flaky="1/3"))
    assert report.baseline is not None
    assert (report.baseline.stale, report.baseline.repaired) == ((), ())


def test_after_a_repair_one_line_says_what_to_delete() -> None:
    entries = (entry(), entry("gone"), entry(rule=OTHER), entry(exchange="t*"), entry(flaky="1/2"))
    report = applied([stream(finding(OTHER))], *entries)
    assert report.baseline is not None
    assert report.baseline.repaired == (
        *("known.yaml:2:5: a/b/c in ogx-1.5.0 text", "known.yaml:2:5: a/b/c in ogx-1.5.0 t*"),
    )
    [line] = [each for each in render(report, "text").splitlines() if "to delete" in each]
    assert line.endswith("(conformance baseline ... -o known.yaml --prune)")
    assert json.loads(render(report, "json"))["repaired"] == list(report.baseline.repaired)
    pruned = prune_baseline(report, Baseline("known.yaml", entries))
    assert pruned.added == ()
    assert pruned.dropped == (entries[0], entries[3])
    assert pruned.baseline.entries == (entries[1], entries[2], entries[4])


def test_an_update_adds_nothing_that_a_star_expects() -> None:
    before = Baseline("b", (entry(rule="a/*", exchange="*"),))
    change = draft_baseline(Report((stream(finding()), stream(finding(OTHER)))), before)
    assert (change.added, change.dropped) == ((), ())


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_stars_fit_as_those_of_a_glob(pattern: str, name: str) -> None:
    assert fits(pattern, name) == fnmatchcase(name, pattern)
