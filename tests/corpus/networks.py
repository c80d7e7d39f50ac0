"""Processes that have no network but a loopback interface of their own (Linux).

Ray listens on the machine's own address, whatever it is told: there it has none. Where a cluster is
started, too, its processes are of a world of their own, which ends with the first of them.
"""

from __future__ import annotations

import shlex
import subprocess
from functools import cache
from typing import Final

import pytest

NETWORK: Final = ("unshare", "-rn")
PROCESSES: Final = ("unshare", "-rnpf", "--mount-proc", "--kill-child")


@cache
def can_be_apart(unshare: tuple[str, ...]) -> bool:
    try:
        done = subprocess.run(
            [*unshare, "ip", "link", "set", "lo", "up"], capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def in_own_network(command: list[str]) -> list[str]:
    """The command, to be run in a network of its own; skips the test where there is none."""
    return _apart(NETWORK, f"exec {shlex.join(command)}")


def in_own_processes(script: str) -> list[str]:
    """As `in_own_network`, of a script: whatever it leaves running ends with it."""
    return _apart(PROCESSES, script)


def _apart(unshare: tuple[str, ...], script: str) -> list[str]:
    if not can_be_apart(unshare):
        pytest.skip("no namespace can be made here (unshare, ip)")
    return [*unshare, "sh", "-c", f"ip link set lo up && {script}"]
