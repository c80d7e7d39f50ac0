"""Files of entries: loaded, held to their schema, spelled and linted."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterable
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
from conformance.baseline.entries import Baseline, BaselineEntry, fits, load_baseline
from conformance.baseline.linting import lint_baselines
from conformance.baseline.spelling import spell_baseline
from conformance.core.errors import Place, SpecError
from tests.baseline.runs import TODAY, write

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
    (GOOD + "}\n" + GOOD.partition("\n")[2] + "}", "3:40", "already appears in line 2"),
    (GOOD + "}\n" + GOOD.partition("\n")[2] + ", finding: f}", "3:40", "already appears"),
    ("entries:\n  - {rule: a, target: t, exchange: x, reason: TODO}", "2:47", "expected a reason"),
    ("entries:\n  - {rule: a, target: t, exchange: x}", "2:5", "'reason' is missing"),
    ("entries:\n  - {rule: a, exchange: x, reason: Known.}", "2:5", "'target' is missing"),
    ("entries:\n  - {rule: a, target: t, exchange: [], reason: K.}", "2:36", "at least one"),
    ("entry: []", "1:1", "did you mean 'entries'?"),
]


@pytest.mark.parametrize(("text", "place", "message"), WRONG)
def test_mistake_shows_its_place(text: str, place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_baseline(write(tmp_path, text))
    assert f"known.yaml:{place}: " in str(caught.value)
    assert message in str(caught.value)


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


def test_lint_knows_rules_and_dates(tmp_path: Path) -> None:
    text = "target: t\nentries:\n  - {rule: wire/chat/done-onc, exchange: x, reason: Known.}\n"
    text += "  - {rule: wire/chat/done-once, exchange: x, reason: Known., until: 2026-01-01}\n"
    problems = lint_baselines([write(tmp_path, text)], today=TODAY)
    assert [(each.severity, each.place.line) for each in problems] == [("error", 3), ("warning", 4)]
    assert "did you mean 'wire/chat/done-once'?" in problems[0].message


def test_shipped_baselines_are_clean() -> None:
    assert lint_baselines([Path(__file__).parents[2] / "specs" / "baselines"], today=TODAY) == []


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_stars_fit_as_those_of_a_glob(pattern: str, name: str) -> None:
    assert fits(pattern, name) == fnmatchcase(name, pattern)
