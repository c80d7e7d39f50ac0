"""Processes that have no network but a loopback interface of their own (Linux).

Ray listens on the machine's own address, whatever it is told: there it has none.
"""

from __future__ import annotations

import shlex
import subprocess
from functools import cache

import pytest


@cache
def has_own_networks() -> bool:
    try:
        done = subprocess.run(
            ["unshare", "-rn", "ip", "link", "set", "lo", "up"], capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def in_own_network(command: list[str]) -> list[str]:
    """The command, to be run in a network of its own; skips the test where there is none."""
    if not has_own_networks():
        pytest.skip("no network namespace can be made here (unshare, ip)")
    return ["unshare", "-rn", "sh", "-c", f"ip link set lo up && exec {shlex.join(command)}"]
