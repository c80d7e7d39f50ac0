"""The examples of docs/corpora.md do what the page says, each in the engine that it is for."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.corpus import CorpusJudge, check_batch
from tests.corpus import made
from tests.corpus.networks import in_own_network

PAGE = Path(__file__).parents[2] / "docs/corpora.md"
SIZE = 100


def example(engine: str) -> str:
    """The example that has this word in it."""
    parts = PAGE.read_text(encoding="utf-8").split("```python\n")[1:]
    (found,) = (text for part in parts if f"def {engine}(" in (text := part.split("```")[0]))
    return found


def names_of(engine: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(example(engine), PAGE.name, "exec"), names)
    return names


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    made.write_parquet(folder / "a.parquet", range(SIZE // 2))
    made.write_parquet(folder / "b.parquet", range(SIZE // 2, SIZE))
    return folder


def expected() -> dict[str, list[str]]:
    found = {made.stream_id(n): made.broken_rules(made.template_of(n)) for n in range(SIZE)}
    return {name: sorted(rules) for name, rules in found.items()}


def reported(out: Path) -> dict[str, list[str]]:
    table = pq.read_table(out, columns=["id", "failed_rules"])
    return {row["id"]: sorted(row["failed_rules"]) for row in table.to_pylist()}


def run_apart(code: str, *arguments: object) -> None:
    """Runs an example in an interpreter of its own, which has no network but its own."""
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": root, "PYSPARK_PYTHON": sys.executable}
    command = in_own_network([sys.executable, "-c", code, *map(str, arguments)])
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_plain_loop(source: Path) -> None:
    found = dict(names_of("failed")["failed"](source / "a.parquet"))
    assert found == {k: v for k, v in expected().items() if v and k < made.stream_id(SIZE // 2)}


def test_ray_data(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the example of Ray Data needs ray[data]")
    with tempfile.TemporaryDirectory(prefix="r") as short:  # paths of sockets have a limit
        begun = (
            "import sys, ray; ray.init(address='local', num_cpus=2, include_dashboard=False,"
            f" _temp_dir={short!r})\n"
        )
        code = f"{begun}{example('check_with_ray')}\ncheck_with_ray(*sys.argv[1:])"
        run_apart(code, source, tmp_path / "out")
    assert reported(tmp_path / "out") == expected()


def test_dask(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the example of Dask needs dask[distributed]")
    (tmp_path / "out").mkdir()
    code = (
        f"{example('check_with_dask')}\n"
        "if __name__ == '__main__':\n"
        "    import sys\n"
        "    from distributed import Client, LocalCluster\n"
        "    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:\n"
        "        with Client(cluster) as client:\n"
        "            check_with_dask(client, Path(sys.argv[1]).glob('*.parquet'), sys.argv[2])\n"
    )
    run_apart(code, source, tmp_path / "out")
    assert reported(tmp_path / "out") == expected()


def test_spark(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the example of Spark needs pyspark and Java")
    code = (
        f"{example('check_with_spark')}\n"
        "import sys\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false')"
        ".config('spark.driver.host', '127.0.0.1').config('spark.driver.bindAddress', '127.0.0.1')"
        ".getOrCreate()\n"
        "check_with_spark(spark.read.parquet(sys.argv[1])).write.parquet(sys.argv[2])\n"
    )
    run_apart(code, source, tmp_path / "out")
    assert reported(tmp_path / "out") == expected()


def test_a_judge_pickles_and_is_shared_by_threads(source: Path) -> None:
    judge = pickle.loads(pickle.dumps(CorpusJudge()))
    table = pq.read_table(source)
    parts = [table.slice(at, 5) for at in range(0, table.num_rows, 5)]
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(partial(check_batch, judge), parts))
    found = pa.concat_tables(tables).to_pylist()
    assert {row["id"]: sorted(row["failed_rules"]) for row in found} == expected()


def test_a_batch_keeps_the_order_and_the_number_of_rows() -> None:
    row = made.row_of(0)
    given = [row, {**row, "body": None}, {**row, "dialect": "klingon"}, row]
    for kind in (pa.binary(), pa.large_binary()):
        schema = pa.Table.from_pylist([row]).schema
        schema = schema.set(schema.get_field_index("body"), pa.field("body", kind))
        table = pa.Table.from_pylist(given, schema=schema)
        for batch in (table, table.to_batches()[0], table.slice(1, 2), table.slice(0, 0)):
            found = check_batch(CorpusJudge(), batch).to_pylist()
            assert len(found) == batch.num_rows
            reasons = [each["unreadable"] is not None for each in found]
            assert reasons == [
                each["body"] is None or each["dialect"] == "klingon" for each in batch.to_pylist()
            ]
