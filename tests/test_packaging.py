"""What an index shows of the package: links that hold there, with an address and without one."""

from __future__ import annotations

import re
import signal
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from conformance.__main__ import main
from hatch_build import linked_page, project_urls

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ADDRESS = "https://github.com/owner/name"
LINK = re.compile(r"\]\(([^)]+)\)")


def test_links_of_the_readme_lead_to_files_of_the_checkout() -> None:
    paths = [link.partition("#")[0] for link in LINK.findall(README)]
    assert paths
    assert [path for path in paths if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    ("address", "left"),
    [
        (ADDRESS, f"a [b]({ADDRESS}/blob/main/docs/b.md) ![c]({ADDRESS}/raw/main/c.svg)"),
        ("", "a b "),
    ],
)
def test_an_index_gets_links_that_hold_there(address: str, left: str) -> None:
    assert linked_page("a [b](docs/b.md) ![c](c.svg)", address) == left
    page = linked_page(README, address)
    assert [link for link in LINK.findall(page) if not link.startswith("https://")] == []
    assert linked_page("```\n[a](b)\n```\n", address) == "```\n[a](b)\n```\n"


def test_urls_come_from_the_one_address() -> None:
    assert project_urls("") == {}
    assert set(project_urls(ADDRESS)) == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert "address" in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    elsewhere = [path for path in ROOT.glob("docs/*.md") if ADDRESS in path.read_text("utf-8")]
    assert elsewhere == []


def test_both_names_are_the_command() -> None:
    scripts = PROJECT["project"]["scripts"]
    assert scripts["conformance"] == scripts["reasoning-conformance"]


@pytest.fixture
def handlers() -> Iterator[None]:
    kept = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, kept)


class Interrupting(ModuleType):
    """A module whose import Ctrl-C ends."""

    def __getattr__(self, name: str) -> object:
        raise KeyboardInterrupt


@pytest.mark.usefixtures("handlers")
def test_an_interrupted_import_is_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "conformance.cli", Interrupting("conformance.cli"))
    assert main() == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
