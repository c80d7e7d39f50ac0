"""Items for the examples of rules: `keeps` and `breaks` in files of rules that pytest meets.

A file of rules is met by its own name (`*.conformance.yaml`), or under `suites` of such a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

from conformance.core.shipped import specs
from conformance.judging.suites import dialect_vocabulary
from conformance.pytest_plugin.items import OutcomeItem
from conformance.pytest_plugin.verdicts import ItemOutcome
from conformance.recordings.rule_tests import ExampleJudge
from conformance.report.rule_tests import example_line
from conformance.rules import document
from conformance.rules.load import read_suite
from conformance.rules.model import Rule, Suite
from conformance.rules.stream_example import StreamExample


def suite_in(path: Path) -> Suite | None:
    """The rules in a file; None where it holds something else. Raises SpecError, UsageError."""
    root = document.load(path)
    is_suite = root.kind == "mapping" and root.get("suite") is not None
    return read_suite(root, dialect_vocabulary) if is_suite else None


def own_suites(suites: Iterable[Suite]) -> list[Suite]:
    """Those with examples that do not ship: ours are tried by our own tests."""
    shipped = str(specs())
    own = (each for each in suites if not each.file.startswith(shipped))
    return [suite for suite in own if any(rule.examples for rule in suite.rules)]


def example_items(
    file: pytest.File, suites: Iterable[Suite], rules: frozenset[str] | None = None
) -> Iterator[pytest.Item]:
    """An item per example of these suites, or only of some of their rules."""
    for suite in suites:
        judge = ExampleJudge(suite)
        for rule in suite.rules:
            if rules is None or rule.id in rules:
                yield from (_example_item(file, judge, rule, example) for example in rule.examples)


def _example_item(
    file: pytest.File, judge: ExampleJudge, rule: Rule, example: StreamExample
) -> pytest.Item:
    is_here = Path(example.place.file) == file.path
    item: pytest.Item = OutcomeItem.from_parent(
        file,
        name=f"{rule.id}[{example.expected}-{example.number}]",
        find=partial(_example_outcome, judge, rule, example),
        line=example.place.line if is_here else 0,
    )
    return item


def _example_outcome(judge: ExampleJudge, rule: Rule, example: StreamExample) -> ItemOutcome:
    judged = judge.judge(rule, example)
    word = str(judged.verdict)
    return ItemOutcome("passed" if judged.holds else "failed", word, example_line(judged))
