"""Answers that break off, before undici, curl, Go's net/http and hyper.

Each gets the bytes before and sees the break. What is not installed is skipped; the README says
how to get it. Stacks of Python stand in `tests/targets/test_replay_stacks.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from conformance.core.events import Ending
from conformance.targets.replay import ReplayOptions, serving
from tests.targets.replay_wire import EVENTS, PATH, SSE, cassette, exchange

pytestmark = pytest.mark.live

SOURCES: Final = Path(__file__).parent / "stacks"
CRATES: Final = Path("/usr/share/cargo/registry")  # of Debian
BODY: Final = b"".join(EVENTS)
CUT: Final = len(EVENTS[0] + EVENTS[1])
LENGTH: Final = (*SSE, ("content-length", str(len(BODY))))
STACKS: Final = ("undici of node", "undici of npm", "curl", "go", "hyper")


def installed(name: str) -> str:
    """The path of a program; skips the test where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def of_npm() -> list[str]:
    folder = os.environ.get("CONFORMANCE_LIVE_NODE", "")
    if not (Path(folder) / "node_modules" / "undici").is_dir():
        pytest.skip("CONFORMANCE_LIVE_NODE names no folder with node_modules/undici")
    return [folder]


def of_go(folder: Path) -> list[str]:
    made = folder / "stack"
    environment = {**os.environ, "GOCACHE": str(folder / "cache"), "GO111MODULE": "off"}
    command = [installed("go"), "build", "-o", str(made), str(SOURCES / "stack.go")]
    subprocess.run(command, check=True, env=environment)
    return [str(made)]


def of_hyper(folder: Path) -> list[str]:
    if not list(CRATES.glob("hyper-0.14*")):
        pytest.skip("librust-hyper-dev is not installed")
    for name in ("Cargo.toml", "hyper.rs"):
        shutil.copy(SOURCES / name, folder)
    crates = ('source.crates-io.replace-with="debian"', f'source.debian.directory="{CRATES}"')
    options = [word for each in crates for word in ("--config", each)]
    subprocess.run([installed("cargo"), "--offline", *options, "build"], cwd=folder, check=True)
    return [str(folder / "target" / "debug" / "stack")]


@pytest.fixture(scope="module", params=STACKS)
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that asks a URL, which follows its first word or words."""
    folder = tmp_path_factory.mktemp("stack")
    if request.param == "curl":
        return [installed("curl"), "-sSN", "--noproxy", "*", "-d", "{}"]
    if request.param == "go":
        return of_go(folder)
    if request.param == "hyper":
        return of_hyper(folder)
    more = of_npm() if request.param == "undici of npm" else []
    return [installed("node"), str(SOURCES / "fetch.mjs"), "URL", *more]


def read(
    stack: list[str],
    headers: tuple[tuple[str, str], ...],
    chunks: tuple[bytes, ...] = EVENTS,
    end: Ending = "eof",
    **options: str,
) -> tuple[bytes, bool]:
    """What the stack was given, and whether it took the body for whole."""
    recorded = cassette(exchange(chunks, json=None, headers=headers, end=end))
    with serving([recorded], options=ReplayOptions.parse(**options)) as server:
        url = server.base_url() + PATH
        command = [url if word == "URL" else word for word in stack]
        command += [] if "URL" in stack else [url]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 or done.stderr
    return done.stdout, done.returncode == 0


@pytest.mark.parametrize("how", ["fin", "rst"])
@pytest.mark.parametrize("headers", [SSE, LENGTH])
def test_a_cut_is_seen(stack: list[str], how: str, headers: tuple[tuple[str, str], ...]) -> None:
    got, is_whole = read(stack, headers, cut=f"byte:{CUT}", how=how)
    assert BODY[:CUT].startswith(got)
    assert got or how == "rst"  # after a reset a stack may drop what it had not handed out
    assert not is_whole


@pytest.mark.parametrize("end", ["reset", "protocol-error"])
def test_a_recorded_break_is_seen(stack: list[str], end: Ending) -> None:
    assert not read(stack, SSE, EVENTS[:2], end)[1]


@pytest.mark.parametrize("headers", [SSE, LENGTH])
def test_a_whole_answer_is_whole(stack: list[str], headers: tuple[tuple[str, str], ...]) -> None:
    assert read(stack, headers) == (BODY, True)
