"""Applications of real packages: where they are, how each is started, and a run against one.

python -m tests.live.applications.hosting install FOLDER [PACKAGES ...]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.live import judging
from tests.live.applications import scripted
from tests.live.processes import ROOT, Started, free_port, running

VARIABLE: Final = "CONFORMANCE_LIVE_APPLICATIONS"
HERE: Final = Path(__file__).parent
BASELINES: Final = ROOT / "specs" / "baselines" / "applications"
_SCENARIOS: Final = tuple(sorted(path.stem for path in (ROOT / "specs/scenarios").glob("app-*")))
# What is asked of an application that is run for one thing alone, and what it is said to lack.
_ONLY: Final = {
    "tags": ("app-answer", "app-inline"),
    "hidden": ("app-answer", "app-tools"),
    "turns": ("app-answer", "app-tools"),
    "deepseek": ("app-answer", "app-tools"),  # turns before a model that wants its reasoning back
}
_CHOICES: Final = {
    "hidden": ("--without", "thinking", "--profile", "no-reasoning"),
    "deepseek": ("--profile", "deepseek"),
}
# Recordings that ship and stand behind no scenario.
_SHIPPED: Final[Mapping[str, Sequence[str]]] = {
    "openai.chat": ["openrouter/signed-details"],
    "openai.responses": ["deepseek/raw-thinking"],
    "anthropic.messages": [],
}


@dataclass(frozen=True, slots=True)
class LiveApplication:
    """One way to run one set of packages; `only` is the one thing that is of interest, if any.

    `agent` is the command of an application that is asked on its standard streams.
    """

    packages: str
    versions: Mapping[str, str]
    target: str
    api: str
    protocol: str
    column: str
    arguments: Sequence[str] = ()
    module: str = ""
    script: str = "ai_sdk.mjs"
    only: str = ""
    agent: str = ""
    kind: str = "npm"  # or pip

    @property
    def folder(self) -> Path:
        """Where its packages are; the test is skipped where nobody says so."""
        named = os.environ.get(VARIABLE, "")
        if not named:
            pytest.skip(f"no applications are here: ${VARIABLE} names no folder")
        made = Path(named) / self.packages
        if not made.is_dir():
            pytest.skip(f"{self.packages} is not in the folder that ${VARIABLE} names")
        return made

    def command(self, model: str) -> Sequence[str]:
        """What starts it in front of the model at a URL, which has no `/v1`."""
        if self.module:
            python = self.folder / "bin" / "python"
            module = f"tests.live.applications.{self.module}"
            return (str(python), "-m", module, *self.arguments, model)
        if shutil.which("node") is None:
            pytest.skip("there is no node")
        return ("node", str(HERE / self.script), str(self.folder), *self.arguments, model)

    @property
    def agent_command(self) -> str:
        """What starts an agent: a program of its packages, or a file of ours with their Python."""
        programs = self.folder / ("node_modules/.bin" if self.kind == "npm" else "bin")
        if self.agent.endswith(".py"):
            return " ".join((str(programs / "python"), str(HERE / self.agent), *self.arguments))
        return str(programs / self.agent)

    def run(self, folder: Path, *more: str) -> judging.Judged:
        """All scenarios for applications, recordings and scripted answers behind it."""
        port = free_port()
        scripted.write(folder)
        behind = [str(path) for path in sorted((folder / self.api).glob("*.sse"))]
        shipped = [
            f"cassettes/{self.api}/{each}.cassette.jsonl" for each in _SHIPPED.get(self.api, ())
        ]
        if self.only:
            named = f"{self.only}-"
            behind, shipped = [each for each in behind if Path(each).name.startswith(named)], []
        scenarios = _ONLY.get(self.only, _SCENARIOS)
        given = [word for each in scenarios for word in ("--scenario", each)]
        given += [word for each in (*behind, *shipped) for word in ("--cassette", each)]
        about = ("--target", self.target, "--protocol", self.protocol)
        options = (*about, *_CHOICES.get(self.only, ()), *given, *more)
        if self.agent:
            return judging.run("--agent", self.agent_command, *options, save=folder / "saved")
        start = Started(self.command(f"http://127.0.0.1:{port}"), folder / "application.log")
        with running(start) as url:
            where = ("--app", f"{url}/", "--upstream-port", str(port))
            return judging.run(*where, *options, save=folder / "saved")


def applications() -> Sequence[LiveApplication]:
    """All of the table, in its order."""
    return [
        LiveApplication(
            packages=each["packages"],
            versions=each.get("npm") or each["pip"],
            module=each.get("module", ""),
            kind="npm" if "npm" in each else "pip",
            **{
                **{key: each[key] for key in ("agent", "script") if key in each},
                **run,
                "target": _target(each, run),
                "column": _column(each, run),
            },
        )
        for each in _table()
        for run in each["runs"]
    ]


def _target(each: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    version = next(iter((each.get("npm") or each["pip"]).values()))
    return f"{run['target']}-{version}"


def _column(*parts: Mapping[str, Any]) -> str:
    return ", ".join(each["column"] for each in parts if "column" in each)


def _table() -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = yaml.safe_load(
        (HERE / "applications.yaml").read_text(encoding="utf-8")
    )
    return found


def install(folder: Path, names: Sequence[str]) -> None:
    """Fetches the pinned packages of the table by npm and pip, each set into a folder."""
    for each in _table():
        if names and each["packages"] not in names:
            continue
        place = folder / each["packages"]
        place.mkdir(parents=True, exist_ok=True)
        if pins := each.get("npm"):
            (place / "package.json").write_text(json.dumps({"private": True, "dependencies": pins}))
            subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=place, check=True)
            continue
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        wanted = [f"{name}=={version}" for name, version in each["pip"].items()]
        pip = (str(place / "bin" / "python"), "-m", "pip", "install", "--quiet")
        subprocess.run([*pip, *wanted], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] != ["install"] or len(sys.argv) < 3:
        sys.exit(__doc__)
    install(Path(sys.argv[2]), sys.argv[3:])
