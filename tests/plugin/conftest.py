"""A project of somebody else's, in which pytest runs with the plugin, in this process."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import Distribution, EntryPoints, PackagePath
from pathlib import Path
from typing import Any, Final

# Loaded here, and not in each of the projects anew: pytester forgets what a run has imported.
import httpcore  # noqa: F401  # as said
import pytest

import conformance.pytest_plugin.collecting
import conformance.pytest_plugin.live_targets
import conformance.pytest_plugin.model_stub
import conformance.pytest_plugin.recording
import conformance.pytest_plugin.trace
import conformance.pytest_plugin.transport
import conformance.targets.recording  # noqa: F401  # as said
from conformance.cassette import open_recording
from conformance.targets.replay import ReplayOptions, ThreadedServer, serving

with suppress(ImportError):
    import httpx2  # noqa: F401  # as said

collect_ignore = ["sample"]  # a project of its own

CASSETTES: Final = Path(__file__).parents[2] / "cassettes"
# An older pytest warns of what this process has imported already: it is not written anew.
IMPORTED: Final = "ignore::pytest.PytestAssertRewriteWarning"
OPTIONS: Final = ("--tb=short", "-W", "error", "-W", IMPORTED)
PLAIN: Final = CASSETTES / "openai.chat/openai/padding-off.cassette.jsonl"
SUMMARY: Final = CASSETTES / "openai.responses/openai/summary-four-parts.cassette.jsonl"
BROKEN: Final = CASSETTES / "mutants/summary/lifecycle/text-agrees.cassette.jsonl"


class InstalledPackage:
    """A package whose lists are read once: each run of pytest reads those of all packages."""

    def __init__(self, package: Distribution) -> None:
        self._package = package

    @cached_property
    def entry_points(self) -> EntryPoints:
        return self._package.entry_points

    @cached_property
    def files(self) -> list[PackagePath] | None:
        return self._package.files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._package, name)


@cache
def installed_packages() -> tuple[InstalledPackage, ...]:
    return tuple(InstalledPackage(each) for each in importlib.metadata.distributions())


@pytest.fixture(autouse=True)
def _packages_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # For these tests alone: others install packages, which have to be found.
    installed = installed_packages()
    monkeypatch.setattr(importlib.metadata, "distributions", lambda **_: iter(installed))


class Project:
    """Files, and pytest over them."""

    def __init__(self, pytester: pytest.Pytester, plugin: tuple[str, ...]) -> None:
        self.path = pytester.path
        self._pytester = pytester
        self._plugin = plugin

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def take(self, source: Path, name: str = "") -> Path:
        """A recording of ours, in the project."""
        target = self.path / (name or source.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        return target

    def run(self, *args: str) -> pytest.RunResult:
        others = ("cacheprovider", "randomly", "xdist", "recording", "asyncio", "syrupy")
        quiet = [each for name in others for each in ("-p", f"no:{name}")]
        return self._pytester.runpytest_inprocess(*self._plugin, *quiet, *OPTIONS, *args)

    def spawn(self, *args: str) -> pytest.RunResult:
        """As `run`, in a process of its own with only those plugins that `args` name."""
        plugin = ("-p", "conformance.pytest_plugin")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            cold = ("-p", "no:cacheprovider")
            return self._pytester.runpytest_subprocess(*plugin, *cold, *OPTIONS, *args)

    def tests(self, text: str, *, asked: Path = PLAIN) -> Path:
        """A module of tests, with BODY, the request of a recording, and `ask(url)`."""
        body = open_recording(asked).exchanges[0].request
        assert body is not None
        path = body.path.partition("?")[0]
        head = HEAD.format(body=json.dumps(body.json), path=path)
        return self.write("test_client.py", f"{head}\n{text}")


HEAD: Final = """
import json
import httpx
import httpcore  # noqa: F401  # loaded here, and not in each of the projects anew:
import pytest
import conformance

BODY = json.loads({body!r})


def ask(url, **more):
    return httpx.post(url + {path!r}, json=BODY | more)
"""


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Project:
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    installed = request.config.pluginmanager.hasplugin("conformance")
    return Project(pytester, () if installed else ("-p", "conformance.pytest_plugin"))


@pytest.fixture
def upstream() -> Iterator[ThreadedServer]:
    """A server to record: it gives the answer of `PLAIN` again and again."""
    with serving([PLAIN], options=ReplayOptions(repeat=True)) as server:
        yield server


def counts(result: pytest.RunResult, **wanted: int) -> None:
    """Holds the outcomes against those that are wanted, and nothing else."""
    found: dict[str, Any] = result.parseoutcomes()
    # How many rules a suite has, and so how many `-k` leaves out, is nobody's business here.
    extra = ("warnings", "warning", "deselected")
    assert {k: v for k, v in found.items() if k not in extra} == wanted


def recorded(project: Project, home: str = "cassettes/test_client/test_asks") -> list[str]:
    """Names of what lies in the folder of a test."""
    folder = project.path / home
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
