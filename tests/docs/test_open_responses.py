"""The page on Open Responses lists the rules that quote it, and recordings that keep them."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.core import shipped
from conformance.judging.suites import load_suites
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

PAGE = (Path(__file__).parents[2] / "docs/open-responses.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| \[`([^`]+)`\]\(rules/\1\.md\) \| (\w+) \| (.+?) \| (?:`([^`]+)`)? ?\|$", re.MULTILINE
)
SITE = "openresponses.org"


def test_every_rule_that_quotes_the_specification_is_a_row() -> None:
    quoting = {
        rule.id: (str(rule.level), rule.says)
        for suite in load_suites(())
        for rule in suite.rules
        if any(SITE in str(source.get("spec", "")) for source in rule.source)
    }
    assert {rule: (level, says) for rule, level, says, _ in ROW.findall(PAGE)} == quoting


def test_what_keeps_a_rule_keeps_it() -> None:
    kept = {rule: file for rule, _, _, file in ROW.findall(PAGE) if file}
    assert len(kept) == len(ROW.findall(PAGE)) - 1
    files = {file: shipped.cassettes() / f"{file}.cassette.jsonl" for file in kept.values()}
    found = {
        file: check_paths([path], profile="openresponses", rules=sorted(kept)).verdicts
        for file, path in files.items()
    }
    assert {rule: found[file].get(rule) for rule, file in kept.items()} == dict.fromkeys(
        kept, Verdict.PASS
    )
