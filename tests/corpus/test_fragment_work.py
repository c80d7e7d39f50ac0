"""What a worker refuses to do, and what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import UsageError
from conformance.corpus.columns import ColumnNames
from conformance.corpus.fragment_work import FragmentTask, FragmentWorker
from conformance.corpus.fragments import find_fragments
from conformance.corpus.judge import CorpusJudge, JudgeChoices
from conformance.corpus.storage import Storage
from tests.corpus import made


def task_for(folder: Path, rules: str) -> FragmentTask:
    made.write_json_lines(folder / "a.jsonl", range(3))
    (fragment,) = find_fragments(Storage(str(folder)), ColumnNames())
    return FragmentTask(str(folder), JudgeChoices(), fragment, rules=rules)


@pytest.mark.parametrize("rules", ["", CorpusJudge().rules_hash])
def test_a_worker_with_the_rules_of_its_driver_judges(rules: str, tmp_path: Path) -> None:
    outcome = FragmentWorker().do_task(task_for(tmp_path, rules))
    assert (outcome.rows, outcome.streams) == (3, 3)


def test_a_worker_with_other_rules_judges_nothing(tmp_path: Path) -> None:
    other = CorpusJudge(JudgeChoices(rules=("wire/*",))).rules_hash
    with pytest.raises(UsageError, match="other rules"):
        FragmentWorker().do_task(task_for(tmp_path, other))


SUITE = """\
suite: own/suite
title: Own
dialect: openai.chat
rules:
  - id: one
    level: MUST
    says: It is so.
    source: {advice: here}
    since: 0.1.0
    never: %s
"""


def test_a_rule_that_says_the_same_and_asks_for_another_thing_is_another_one(
    tmp_path: Path,
) -> None:
    hashes = []
    for folder, event in (("a", "finish"), ("b", "finish"), ("c", "error")):
        (tmp_path / folder).mkdir()
        suite = tmp_path / folder / "own.yaml"
        suite.write_text(SUITE % event)
        hashes.append(CorpusJudge(JudgeChoices(suites=(str(suite),))).rules_hash)
    assert hashes[0] == hashes[1] != hashes[2]
