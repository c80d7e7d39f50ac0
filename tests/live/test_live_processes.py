"""Processes of the live tests: ready is told, and nothing that was started is left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.live.processes import NotReadyError, Started, running
from tests.processes import has_ended

CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("pid", os.getpid(), child.pid)
print("READY http://127.0.0.1:9", flush=True)
time.sleep(600)
"""


def started(code: str, folder: Path) -> Started:
    return Started((sys.executable, "-c", code), folder / "log")


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no process handles here")
def test_children_end_with_their_parent(tmp_path: Path) -> None:
    start = started(CHILD, tmp_path)
    with running(start) as url:
        pids = [int(word) for word in start.log.read_text().split()[1:3]]
        assert url == "http://127.0.0.1:9"
        assert all(map(is_alive, pids))
    assert all(map(has_ended, pids))


def test_who_ends_before_it_is_ready_is_told_with_its_last_words(tmp_path: Path) -> None:
    start = started("import sys; sys.exit('no model')", tmp_path)
    with pytest.raises(NotReadyError, match="no model"), running(start):
        pass


def test_who_never_gets_ready_is_ended(tmp_path: Path) -> None:
    start = started("import time; print('hm', flush=True); time.sleep(600)", tmp_path)
    with pytest.raises(NotReadyError, match="not ready"), running(start, patience=0.5):
        pass
