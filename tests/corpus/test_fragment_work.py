"""What a worker refuses to do, and what it does."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.corpus.columns import ColumnNames
from conformance.corpus.engines import (
    DEADLY,
    MOST_ASIDE,
    TRIES,
    WorkerDeath,
    WorkerProcesses,
    judge_fragment,
)
from conformance.corpus.fragment_work import KILLED, FragmentOutcome, FragmentTask, FragmentWorker
from conformance.corpus.fragments import Fragment, find_fragments
from conformance.corpus.judge import CorpusJudge, JudgeChoices
from conformance.corpus.storage import Storage
from tests.corpus import made
from tests.corpus.checked import check, output_bytes, rows


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


def test_rule_with_the_same_words_may_be_another_one(
    tmp_path: Path,
) -> None:
    hashes = []
    for folder, event in (("a", "finish"), ("b", "finish"), ("c", "error")):
        (tmp_path / folder).mkdir()
        suite = tmp_path / folder / "own.yaml"
        suite.write_text(SUITE % event)
        hashes.append(CorpusJudge(JudgeChoices(suites=(str(suite),))).rules_hash)
    assert hashes[0] == hashes[1] != hashes[2]


TASK = FragmentTask("in", JudgeChoices(), Fragment("json", "a.jsonl"))
CRASHING = """
import os, signal
from conformance.corpus.judge import CorpusJudge
plain = CorpusJudge.judge_streams
def judged(self, rows, **how):
    bodies = [row.recording.exchanges[0].body for row in rows if hasattr(row, "recording")]
    if any(b"end this process" in body for body in bodies):
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, rows, **how)
CorpusJudge.judge_streams = judged
"""


class DyingWorkers:
    """Workers that die of some rows, and now and then of nothing."""

    def __init__(self, size: int, deadly: set[int], chance: float = 0.0) -> None:
        self.size, self.deadly, self.chance = size, deadly, chance
        self.random = Random(1)
        self.tasks = 0

    def run(self, task: FragmentTask) -> FragmentOutcome:
        self.tasks += 1
        stop = self.size if task.stop is None else task.stop
        judged = set() if task.kind == "name" else set(range(task.first, stop)) - set(task.aside)
        if judged & self.deadly or (judged and self.random.random() < self.chance):
            raise WorkerDeath
        unreadable = self.size if task.kind == "name" else len(task.aside)
        return FragmentOutcome(
            rows=self.size, unreadable=unreadable, tables={"aside": bytes(task.aside)}
        )


@given(st.integers(1, 200), st.sets(st.integers(0, 199), max_size=5))
def test_exactly_the_rows_that_kill_are_put_aside(size: int, deadly: set[int]) -> None:
    workers = DyingWorkers(size, {each for each in deadly if each < size})
    outcome = judge_fragment(TASK, workers.run)
    assert sorted(outcome.tables["aside"]) == sorted(workers.deadly)
    assert workers.tasks <= (len(workers.deadly) + 1) * (3 * TRIES + size.bit_length() + 1)


def test_a_fragment_of_killers_is_put_aside_as_a_whole_within_bounds() -> None:
    workers = DyingWorkers(500, set(range(500)))
    assert judge_fragment(TASK, workers.run).unreadable == 500
    assert workers.tasks < (MOST_ASIDE + TRIES) * 20


def test_what_ends_every_process_that_reads_it_is_put_aside_after_three(tmp_path: Path) -> None:
    class Dying:
        deaths = 0

        def run(self, _: FragmentTask) -> FragmentOutcome:
            self.deaths += 1
            raise WorkerDeath

    dying = Dying()
    outcome = judge_fragment(replace(TASK, source=str(tmp_path)), dying.run)
    assert dying.deaths == TRIES
    assert outcome.unreadable == 1
    assert outcome.faults == (f"{tmp_path}/a.jsonl: {DEADLY}",)


def test_deaths_by_chance_put_nothing_aside() -> None:
    for _ in range(20):
        workers = DyingWorkers(64, set(), chance=0.2)
        assert judge_fragment(TASK, workers.run).tables["aside"] == b""


@pytest.mark.slow
def test_deadly_row_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(CRASHING, encoding="utf-8")
    here = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), here]))
    lines = [made.json_line(number) for number in range(12)]
    lines.insert(5, b'{"id": "killer", "body": "data: end this process\\n\\n"}\n')
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    progress = check(tmp_path / "in.jsonl", tmp_path / "out", WorkerProcesses(2))
    assert {row["id"] for row in rows(tmp_path / "out")} == {made.stream_id(n) for n in range(12)}
    (aside,) = rows(tmp_path / "out", "unreadable")
    assert (aside["id"], aside["reason"]) == ("killer", KILLED)
    assert progress.unreadable == 1


@pytest.mark.slow
def test_workers_killed_while_they_judge_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for at in range(6):
        made.write_parquet(tmp_path / "in" / f"{at}.parquet", range(at * 20, at * 20 + 20))
    check(tmp_path / "in", tmp_path / "plain")

    class Killing(WorkerProcesses):
        left = 2  # a part that ended three processes is put aside

        def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome:
            process = self._process(place)
            if self.left:
                self.left -= 1
                os.kill(process.pid, signal.SIGKILL)
            return super().run_task(place, task)

    assert check(tmp_path / "in", tmp_path / "out", Killing(2)).rows == 120
    assert output_bytes(tmp_path / "out") == output_bytes(tmp_path / "plain")
