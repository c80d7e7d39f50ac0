"""Checks of 20,000 streams that are ended at random moments, and what comes of them.

`KILL_RUNS=20 python -m pytest -m long tests/corpus/test_kill_runs.py` does each kind 20 times.
Moments are told by the files that are written, so that a busy machine has them, too.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.corpus.fragment_work import KILLED
from tests.corpus import made
from tests.corpus.checked import output_bytes, rows
from tests.corpus.networks import in_own_network
from tests.corpus.test_fragment_work import CRASHING

pytestmark = pytest.mark.long

ROOT: Final = Path(__file__).parents[2]
SEEDS: Final = range(int(os.environ.get("KILL_RUNS", "1")))
STREAMS: Final = 20_000
FILE: Final = 2_000
GROUP: Final = 500
# What is tried here hangs neither on the length of bodies nor on the number of rules: only those
# judge that the planted faults break.
MOST_BYTES: Final = 900
KILLS: Final = 3
DISK: Final = """
mount -t tmpfs -o size={size} none {out} || exit 77
{check}; echo "first: $?"; find {out} -name '*.draft'
mount -o remount,size=1g {out}; {check}; echo "second: $?"; cp -r {out}/. {copy}
"""


@dataclass(frozen=True)
class Corpus:
    """A source, the output of a check that nothing happened to, and its numbers of streams."""

    source: Path
    expected: Path
    numbers: tuple[int, ...]


@cache
def drawn_numbers() -> tuple[int, ...]:
    """The streams of the corpus: the first that are short."""
    short = (n for n in count() if len(made.template_of(n).body) <= MOST_BYTES)
    return tuple(islice(short, STREAMS))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "in").mkdir()
    numbers = drawn_numbers()
    for at in range(0, STREAMS, FILE):
        file = folder / "in" / f"{at:05}.parquet"
        made.write_parquet(file, numbers[at : at + FILE], group=GROUP)
    expect_end(started(folder / "in", folder / "plain"), 0)
    ids = {row["id"] for row in rows(folder / "plain", "verdicts", "id")}
    assert ids == set(map(made.stream_id, numbers))
    found = {(row["id"], row["rule"]) for row in rows(folder / "plain", "findings")}
    assert found >= set(made.planted(numbers).items())
    return Corpus(folder / "in", folder / "plain", numbers)


def command(source: Path, out: Path, *more: str) -> list[str]:
    verb = ["corpus", "check", str(source), "--out", str(out), *(more or ("-j", "2"))]
    planted = sorted(set(made.planted(drawn_numbers()).values()))
    rules = [word for rule in planted for word in ("--rule", rule)]
    return [sys.executable, "-m", "conformance", *verb, *rules]


def started(source: Path, out: Path, *path: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((*path, str(ROOT)))}
    return subprocess.Popen(
        command(source, out), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def expect_end(running: subprocess.Popen[str], code: int) -> None:
    _, errors = running.communicate()
    assert running.returncode == code, errors[-2000:]


def moments(running: subprocess.Popen[Any], out: Path, random: Random, kills: int) -> Iterator[int]:
    """Comes back at random moments of a check, while it runs."""
    # The last parts come within a second: no worker would be left to be killed.
    latest = STREAMS // GROUP * 3 // 4
    before = len(list((out / "verdicts").glob("*.parquet")))
    for after in sorted(random.sample(range(before, latest), kills)):
        while running.poll() is None:
            if len(list((out / "verdicts").glob("*.parquet"))) >= after:
                time.sleep(random.uniform(0, 0.5))  # into the work on a part
                yield after
                break
            time.sleep(0.01)


def workers_of(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task")
    found = [(each / "children").read_text() for each in threads.iterdir()]
    return [int(child) for text in found for child in text.split()]


def expect_workers_killed(
    driver: subprocess.Popen[Any], out: Path, random: Random, find: Callable[[int], list[int]]
) -> None:
    """Kills workers that `find` names below the driver, which ends well all the same."""
    killed = 0
    for _ in moments(driver, out, random, KILLS):
        while not (workers := find(driver.pid)):
            assert driver.poll() is None, "the check ended before its workers were killed"
            time.sleep(0.01)
        os.kill(random.choice(workers), signal.SIGKILL)
        killed += 1
    expect_end(driver, 0)
    assert killed == KILLS


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_workers_change_nothing(seed: int, corpus: Corpus, tmp_path: Path) -> None:
    driver = started(corpus.source, tmp_path)
    expect_workers_killed(driver, tmp_path, Random(seed), workers_of)
    assert output_bytes(tmp_path) == output_bytes(corpus.expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_driver_can_be_called_again(seed: int, corpus: Corpus, tmp_path: Path) -> None:
    random = Random(seed)
    for _ in range(2):
        driver = started(corpus.source, tmp_path)
        for _ in moments(driver, tmp_path, random, 1):
            driver.kill()
        expect_end(driver, -signal.SIGKILL)
    expect_end(started(corpus.source, tmp_path), 0)
    assert output_bytes(tmp_path) == output_bytes(corpus.expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_full_disk_can_be_made_larger(seed: int, corpus: Corpus, tmp_path: Path) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy"
    out.mkdir()
    copy.mkdir()
    needed = sum(map(len, output_bytes(corpus.expected).values()))
    size = Random(seed).randrange(64 << 10, needed)
    check = shlex.join(command(corpus.source, out))
    script = DISK.format(size=size, out=out, copy=copy, check=check)
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no file system can be mounted here (unshare, tmpfs)")
    found = [line for line in done.stdout.splitlines() if "judged" not in line]
    assert found == ["first: 2", "second: 0"], done.stderr[-2000:]
    assert "cannot be written: no space left on device" in done.stderr
    assert output_bytes(copy) == output_bytes(corpus.expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_end_workers_are_set_aside(seed: int, corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(CRASHING, encoding="utf-8")
    source, out, random = tmp_path / "in", tmp_path / "out", Random(seed)
    shutil.copytree(corpus.source, source)
    file = random.choice(sorted(source.iterdir()))
    put_killer_into(file, random.randrange(FILE))
    expect_end(started(source, out, str(tmp_path)), 2)
    assert reported(out) == reported(corpus.expected)
    aside = [(row["id"], row["reason"]) for row in rows(out, "unreadable")]
    assert aside == [("killer", KILLED)]


def put_killer_into(file: Path, at: int) -> None:
    table = pq.read_table(file)
    row = {"id": "killer", "body": b"data: end this process\n\n"}
    killer = pa.Table.from_pylist([row], table.schema)
    whole = pa.concat_tables([table.slice(0, at), killer, table.slice(at)])
    pq.write_table(whole, file, row_group_size=GROUP)


def reported(out: Path) -> tuple[list[Any], list[Any]]:
    """What was said of each stream, wherever it stands."""
    verdicts = rows(out, "verdicts", "id", "dialect", "profile", "failed_rules", "passed_rules")
    findings = rows(out, "findings", "id", "finding", "rule", "event", "message")
    return tuple(sorted(each, key=str) for each in (verdicts, findings))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_ray_workers_change_nothing(seed: int, corpus: Corpus, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the engine ray needs the package ray")
    asked = command(corpus.source, tmp_path, "--engine", "ray", "-j", "2")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    driver = subprocess.Popen(
        in_own_network(asked), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    expect_workers_killed(driver, tmp_path, Random(seed), busy_workers_below)
    assert output_bytes(tmp_path) == output_bytes(corpus.expected)


def busy_workers_below(pid: int) -> list[int]:
    """The processes of Ray that do a task of ours."""
    found = []
    for child in workers_of(pid):
        try:
            name = Path(f"/proc/{child}/cmdline").read_bytes()
            found += [child] if b"do_encoded_task" in name else busy_workers_below(child)
        except OSError:
            continue
    return found
