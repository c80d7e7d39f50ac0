"""The reference under the name that a wheel gives it, and under its name in a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "client",
    [
        ("conformance.reference", "client"),
        ("conformance.reference.client",),
        ("reference_impl", "client"),
        ("reference_impl.client",),
    ],
    ids=" ".join,
)
def test_the_reference_runs_under_every_name(client: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *client, "harness", "--list-defects")
    assert (done.returncode, done.stderr) == (0, "")
    assert "drop-on-boundary-chunk" in done.stdout


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text('raise ModuleNotFoundError("gone", name="starlette")\n')
    done = run(tmp_path, "conformance.reference", "server", "--port", "0")
    assert done.returncode == 2
    assert "starlette" in done.stderr
    assert "[reference]" in done.stderr
