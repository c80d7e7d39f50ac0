from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conformance.corpus.columns import ColumnNames
from conformance.corpus.judge import JudgeChoices
from tests.corpus import made
from tests.corpus.checked import check, output_bytes, rows
from tests.corpus.networks import in_own_network, in_own_processes
from tests.corpus.test_fragment_work import CRASHING

pytest.importorskip("ray", reason="the engine ray needs the package ray")

ROOT = Path(__file__).parents[2]
SAID = """
import subprocess, sys
from conformance.cli import main
code = main(sys.argv[1:])
print(subprocess.run(["ss", "-Hltn"], capture_output=True, text=True).stdout)
sys.exit(code)
"""

# A cluster, and checks that join it: as users do, and as another version would.
CLUSTER = """
export HOME={folder} RAY_USAGE_STATS_ENABLED=0
begin() {{ {ray} start --head --node-ip-address=127.0.0.1 --port=6379 --num-cpus=2 \\
    --include-dashboard=false --temp-dir={folder}/$1 >{folder}/$1.log 2>&1; }}
cd / && PYTHONPATH={path} begin a || exit 3
export PYTHONPATH={path}
{check} {folder}/a.out --ray-address 127.0.0.1:6379; echo "joined: $?"
{check} {folder}/b.out --ray-address auto; echo "found: $?"
{other} {folder}/c.out --ray-address 127.0.0.1:6379; echo "other version: $?"
"""
OTHER = """
import sys
import conformance
conformance.__version__ = "9.9.9"
from conformance.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run_ray(
    source: Path, out: Path, *more: str, path: str = str(ROOT)
) -> subprocess.CompletedProcess[str]:
    verb = ["corpus", "check", str(source), "--out", str(out), "--engine", "ray", "-j", "2"]
    command = in_own_network([sys.executable, "-c", SAID, *verb, *more])
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=200, check=False
    )


def test_ray_writes_the_same_bytes_and_leaves_nothing_listening(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made.write_parquet(tmp_path / "in" / "a.parquet", range(80), group=20)
    made.write_json_lines(tmp_path / "in" / "b.jsonl.gz", range(80, 100))
    choices = JudgeChoices(columns=ColumnNames(keep=("status",)))
    check(tmp_path / "in", tmp_path / "plain", None, choices)
    done = run_ray(tmp_path / "in", tmp_path / "out", "--keep", "status")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[0].startswith("100 streams judged")
    assert done.stdout.splitlines()[1:] == [""]
    assert output_bytes(tmp_path / "out") == output_bytes(tmp_path / "plain")


def test_a_row_that_ends_its_process_is_put_aside_on_ray_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(CRASHING, encoding="utf-8")
    killer = b'{"id": "killer", "body": "data: end this process\\n\\n"}\n'
    (tmp_path / "in.jsonl").write_bytes(made.json_line(0) + killer + made.json_line(1))
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run_ray(tmp_path / "in.jsonl", tmp_path / "out", path=path)
    assert done.returncode == 2, done.stderr[-2000:]
    assert [row["id"] for row in rows(tmp_path / "out")] == [made.stream_id(0), made.stream_id(1)]
    assert [row["id"] for row in rows(tmp_path / "out", "unreadable")] == ["killer"]


def test_a_cluster_of_the_user_is_joined(tmp_path: Path) -> None:
    made.write_parquet(tmp_path / "in.parquet", range(60), group=20)
    source = str(tmp_path / "in.parquet")
    check(source, tmp_path / "plain")
    verb = ["corpus", "check", source, "--engine", "ray", "--out"]
    with tempfile.TemporaryDirectory(prefix="r") as short:  # paths of sockets have a limit
        script = CLUSTER.format(
            folder=short,
            path=ROOT,
            ray=shlex.join([sys.executable, "-m", "ray.scripts.scripts"]),
            check=shlex.join([sys.executable, "-m", "conformance", *verb]),
            other=shlex.join([sys.executable, "-c", OTHER, *verb]),
        )
        done = subprocess.run(
            in_own_processes(script), capture_output=True, text=True, timeout=200, check=False
        )
        found = [line for line in done.stdout.splitlines() if "judged" not in line]
        assert found == ["joined: 0", "found: 0", "other version: 2"], done.stderr[-2000:]
        assert "error: the workers of Ray have reasoning-conformance " in done.stderr
        for name in ("a.out", "b.out"):
            assert output_bytes(Path(short, name)) == output_bytes(tmp_path / "plain")


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    made.write_json_lines(tmp_path / "in.jsonl", range(2))
    more = ("--ray-address", "127.0.0.1:1")
    done = run_ray(tmp_path / "in.jsonl", tmp_path / "out", *more)
    assert done.returncode == 2
    assert "error: Ray cannot be begun" in done.stderr
    assert "RAY_AUTH_MODE" not in done.stderr
    assert not (tmp_path / "out").exists()
