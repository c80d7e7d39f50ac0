"""Whatever a file is, every verb ends within its bounds, and its exit code is a documented one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.hostile.each_verb import VERBS
from tests.hostile.files import DOCUMENTS, FILES
from tests.hostile.hostile_file import WHOLE, HostileFile
from tests.hostile.limited import limit_process, wait_limited
from tests.hostile.test_servers import CONTROL

# Conforms, findings, a wrong file, nothing to check; who is asked, and a client, may fail, too.
DOCUMENTED: Final = {(verb, code) for verb in VERBS for code in (0, 1, 2, 5)} | {
    *(("record", 3), ("run recorded", 3), ("run recorded", 4))
}
CASES: Final = [
    pytest.param(each, id=ascii(each.name)[:50], marks=() if each.sampled else pytest.mark.hostile)
    for each in FILES
]
MADE: Final = frozenset(
    {
        *("out.cassette.jsonl", "redacted.cassette.jsonl", "recorded.cassette.jsonl", "vectors"),
        *("baseline.yaml", "upstream", "checked", "sampled"),
    }
)


def read_by_each_verb(file: HostileFile, folder: Path) -> list[dict[str, Any]]:
    """What every verb came to, and at last what was left behind."""
    given, working, output = folder / "given", folder / "working", folder / "told"
    given.mkdir()
    working.mkdir()
    path, good = file.write(given), folder / "good.cassette.jsonl"
    good.write_bytes(WHOLE)
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.each_verb", path, good],
            stdout=out,
            cwd=working,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        limit_process(process.pid, file.seconds, file.megabytes)
        code = wait_limited(process)
    lines = output.read_text(encoding="utf-8").splitlines()
    assert code == 0, f"ended by {code} after {len(lines)} verbs"
    return [json.loads(line) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("file", CASES)
def test_every_verb_ends_within_bounds(file: HostileFile, tmp_path: Path) -> None:
    *each, last = read_by_each_verb(file, tmp_path)
    codes = {one["verb"]: one["code"] for one in each}
    assert codes.keys() == VERBS.keys()
    assert [one for one in each if (one["verb"], one["code"]) not in DOCUMENTED] == []
    assert [one for one in each if CONTROL.search(one["said"])] == []
    assert [one for one in each if "Traceback" in one["said"]] == []
    assert (codes["check"], codes["lint"]) == (file.check, file.lint)
    if file in DOCUMENTS:
        assert codes["check suite"] == file.suite
    assert set(last["left"]) <= MADE


def test_the_catalogue_names_each_file_once() -> None:
    assert len({each.name for each in FILES}) == len(FILES) >= 100
