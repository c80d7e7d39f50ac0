from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.core import shipped
from conformance.core.errors import SpecError
from conformance.dialects import get
from conformance.judging.suites import suite_files
from conformance.rules import document
from conformance.rules.forms import FORMS
from conformance.rules.load import RULE_KEYS, SUITE_KEYS, load_suite
from tests.schemas import published_schema, schema_of

SHIPPED = suite_files(shipped.specs())

RULE: dict[str, Any] = {
    "id": "a",
    "level": "MUST",
    "says": "It is so.",
    "source": {"breaks": "a client"},
    "since": "0.1.0",
    "never": "done",
}


def suite(**changes: Any) -> dict[str, Any]:
    """One suite with one rule; a key that is set to None is left out of the rule."""
    rule = {key: value for key, value in {**RULE, **changes}.items() if value is not None}
    return {"suite": "own/x", "rules": [rule]}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_suites_are_valid(path: Path) -> None:
    errors = published_schema("suite.schema.json").iter_errors(document.load(path).plain())
    assert [f"{error.instance_path}: {error.message}" for error in errors] == []


def test_the_schema_knows_the_keys_that_the_loader_knows() -> None:
    loaded = schema_of("suite.schema.json")
    assert set(loaded["properties"]) == SUITE_KEYS
    assert set(loaded["$defs"]["rule"]["properties"]) == RULE_KEYS
    assert {each["required"][0] for each in loaded["$defs"]["rule"]["oneOf"]} == set(FORMS)


VALID: list[dict[str, Any]] = [
    {},
    {"source": None},
    {"keeps": ["data: 1\n", [{"a": 1}, "[DONE]"], "a.sse"], "breaks": [{"text": "x"}]},
    {"breaks": [{"file": "a.sse", "dialect": "d", "profile": "p", "request": {"a": 1}}]},
    {"after": "thinking.start", "until": ["done", "cut"]},
    {"restates": True},
    {"never": None, "grammar": "a (b | c)*"},
    {"never": None, "values": {"of": {"a": "x"}, "are": "constant"}},
    {"never": None, "values": {"of": "a", "path": "x", "are": "contiguous", "start": "$first"}},
    {"never": None, "fold": {"over": "a", "take": "x", "with": "json"}},
    {"never": None, "fold": {"over": "a", "take": "x", "lacks": "$markers"}},
    {"never": None, "timing": {"of": "a", "largest_gap": 5}},
]
BROKEN: list[dict[str, Any]] = [
    {"id": "A b"},
    {"restates": "texts"},
    {"never": None, "grammar": "a", "restates": True},
    {"level": "must"},
    {"says": "It is so"},
    {"says": "x" * 70 + "."},
    {"since": 0.1},
    {"source": {"quote": "It is."}},
    {"source": []},
    {"source": {}},
    {"never": None},
    {"grammar": "a b"},
    {"never": []},
    {"sometimes": "done"},
    {"applies": {"views": "client"}},
    {"never": None, "after": "done", "grammar": "a"},
    {"never": None, "values": {"of": "a", "are": "constant"}},
    {"never": None, "fold": {"over": "a", "take": "x"}},
    {"never": None, "fold": {"over": "a", "matches": "b", "grows": False}},
    {"never": None, "response": {"then": "a", "when": "b", "opens": "c"}},
    {"never": None, "timing": {"of": "a", "within": 1, "largest_gap": 2}},
    {"never": None, "compare": {"left": {"over": "a"}, "are": "equal"}},
]


@pytest.mark.parametrize("changes", VALID, ids=str)
def test_a_sound_rule_is_valid(changes: dict[str, Any]) -> None:
    assert published_schema("suite.schema.json").is_valid(suite(**changes))


@pytest.mark.parametrize("changes", BROKEN, ids=str)
def test_a_broken_rule_is_not_valid(changes: dict[str, Any]) -> None:
    assert not published_schema("suite.schema.json").is_valid(suite(**changes))


@pytest.mark.parametrize(
    "changes",
    [{"suite": "Own X"}, {"rules": {}}, {"events": {"a": {"x": 1}}}, {"extra": 1}],
    ids=str,
)
def test_a_broken_head_is_not_valid(changes: dict[str, Any]) -> None:
    assert not published_schema("suite.schema.json").is_valid({**suite(), **changes})


SUITE = """
suite: wire/lines
dialect: [ollama.chat, ollama.generate]
rules:
  - id: both
    level: SHOULD
    says: One line is done.
    source: [{advice: a test}]
    since: 0.1.0
    never: ollama.last
    after: ollama.last
  - id: one
    level: SHOULD
    dialect: DIALECT
    says: A body comes once.
    source: [{advice: a test}]
    since: 0.1.0
    never: ollama.body
    after: ollama.body
"""


def written(folder: Path, dialect: str) -> Path:
    path = folder / "lines.yaml"
    path.write_text(SUITE.replace("DIALECT", dialect))
    return path


def test_a_rule_judges_the_dialects_of_its_suite_or_those_it_names(tmp_path: Path) -> None:
    suite = load_suite(written(tmp_path, "ollama.chat"), lambda name: get(name).vocabulary)
    both, one = suite.rules
    names = ("ollama.chat", "ollama.generate", "openai.chat")
    assert [both.judges(name) for name in names] == [True, True, False]
    assert [one.judges(name) for name in names] == [True, False, False]


def test_a_rule_names_no_other_dialect_than_its_suite(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="a rule names only dialects of its suite"):
        load_suite(written(tmp_path, "openai.chat"), lambda name: get(name).vocabulary)
