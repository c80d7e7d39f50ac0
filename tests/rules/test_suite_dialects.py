"""A suite may be of several dialects, and a rule of some of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import SpecError
from conformance.dialects import get
from conformance.rules.load import load_suite

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
