"""A corpus checked, and its output read back, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from conformance.corpus.checking import CorpusProgress, check_corpus
from conformance.corpus.engines import Engine
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask, FragmentWorker
from conformance.corpus.judge import JudgeChoices
from conformance.corpus.output import table_files
from conformance.corpus.tables import TABLES, table_schema


class OwnProcess:
    """This process does everything, and dies of what a worker would die of."""

    places: int = 1

    def __init__(self) -> None:
        self._worker = FragmentWorker()

    def run_task(self, place: int, task: FragmentTask) -> FragmentOutcome:
        del place
        return self._worker.do_task(task)

    def stop(self) -> None:
        return


def check(
    source: Path | str, out: Path, engine: Engine | None = None, choices: JudgeChoices | None = None
) -> CorpusProgress:
    return check_corpus(str(source), out, choices or JudgeChoices(), engine or OwnProcess())


def rows(out: Path, table: str = "verdicts", *columns: str) -> list[dict[str, Any]]:
    """The rows of a table, fragment by fragment."""
    wanted = list(columns or table_schema(table).names)
    files = table_files(out, table)
    return [row for file in files for row in pq.read_table(file, columns=wanted).to_pylist()]


def output_bytes(out: Path) -> dict[str, bytes]:
    """Every file of the output by its name."""
    return {
        f"{table}/{file.name}": file.read_bytes()
        for table in TABLES
        for file in sorted((out / table).iterdir())
    }
