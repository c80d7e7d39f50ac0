"""Every command and code block of README and docs is run, and prints what the page shows.

`make test-docs`. The wheel is built and installed in a fresh environment; README is run there with
base dependencies only, the other pages share that environment. Versions are those of the lock.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from conformance import __version__
from tests.authoring.report_picture import PICTURE, picture
from tests.docs.blocks import PAGES, ROOT, blocks_of, indented_blocks
from tests.docs.page_run import RUN, run_page

# What examples import beside the package and its extras.
IMPORTED: Final = (
    "openai",
    "anthropic",
    "aiohttp",
    "fastapi",
    "prometheus-client",
    "requests",
    "syrupy",
)
# Pages whose blocks of these languages other tests read and run.
ELSEWHERE: Final = {
    ("docs/rule-language.md", "yaml"): "tests/rules/test_docs.py",
    ("docs/clients.md", "python"): "tests/adapters/test_adapters.py",
    ("docs/clients.md", "javascript"): "tests/adapters/test_adapters.py",
    ("docs/clients.md", "elixir"): "tests/adapters/test_adapters.py",
    ("docs/clients.md", "rust"): "tests/adapters/test_adapters.py",
    ("docs/ci.md", "yaml"): "tests/test_action.py",
}
# Pages whose blocks of `text` are drawings; elsewhere they are marked.
DRAWN: Final = frozenset({"docs/architecture.md"})
JOBS: Final = 2
_PINNED: Final = re.compile(r"^[a-z].*(?= \\$)", re.MULTILINE)


def _is_run(page: str) -> bool:
    return any(each.language in _run_here(page) and not each.not_run for each in blocks_of(page))


def _run_here(page: str) -> frozenset[str]:
    """The languages whose blocks of this page no other test runs."""
    return RUN - {language for other, language in ELSEWHERE if other == page}


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_or_says_why_not(page: str) -> None:
    assert list(indented_blocks(page)) == []
    strange = [
        f"{page}:{each.line}: {each.language or 'no language'}"
        for each in blocks_of(page)
        if not (each.title or each.not_run or each.language in RUN)
        and (page, each.language) not in ELSEWHERE
        and not (each.language == "text" and page in DRAWN)
    ]
    assert strange == []


@pytest.mark.parametrize(("block", "test"), ELSEWHERE.items())
def test_what_is_run_elsewhere_is_read_there(block: tuple[str, str], test: str) -> None:
    page, language = block
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
    assert language in [each.language for each in blocks_of(page)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """What is wrong with each page: README first, in an environment that has nothing else."""
    folder = tmp_path_factory.mktemp("docs")
    environment = _fresh_environment(folder)
    pages = [page for page in PAGES if _is_run(page)]
    _installed(environment, "reasoning-conformance")
    found = {pages[0]: _faults(pages[0], folder, environment)}
    _installed(environment, "reasoning-conformance[pytest,compression]", *IMPORTED)
    with ThreadPoolExecutor(JOBS) as pool:
        made = pool.map(lambda page: _faults(page, folder, environment), pages[1:])
        return found | dict(zip(pages[1:], made, strict=True))


def _faults(page: str, folder: Path, environment: Mapping[str, str]) -> list[str]:
    own = folder / Path(page).stem
    own.mkdir()
    return run_page(page, own, environment, _run_here(page))


def _fresh_environment(folder: Path) -> dict[str, str]:
    """An environment without packages; what pip installs there of this project is a wheel."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, check=True, cwd=ROOT)
    constraints = folder / "constraints.txt"
    constraints.write_text(f"reasoning-conformance=={__version__}\n{_locked_versions()}")
    venv.create(folder / "env", with_pip=True)
    kept = ("HOME", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "SSL_CERT_FILE")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": f"{folder / 'env/bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONSTRAINT": str(constraints),
        "PIP_FIND_LINKS": str(folder),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
        "PYTHONPATH": "",
    }


def _locked_versions() -> str:
    """The lines of the lock, without their hashes: what is installed here stays what was tried."""
    lock = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    return "".join(f"{line}\n" for line in _PINNED.findall(lock))


def _installed(environment: Mapping[str, str], *packages: str) -> None:
    pip = shutil.which("pip", path=environment["PATH"])
    assert pip
    subprocess.run([pip, "install", "-q", *packages], check=True, env=environment)


@pytest.mark.docs
@pytest.mark.parametrize("page", [page for page in PAGES if _is_run(page)])
def test_a_page_does_what_it_says(page: str, found: Mapping[str, list[str]]) -> None:
    assert not found[page], "\n\n".join(found[page])


def test_the_picture_is_what_the_tool_prints() -> None:
    text = "stale: python -m tests.authoring.report_picture"
    assert PICTURE.read_text(encoding="utf-8") == picture(), text
