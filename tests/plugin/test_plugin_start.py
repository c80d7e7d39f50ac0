"""What a pytest start pays for a plugin that nobody uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cassette import Cassette, Header, discover, write
from conformance.pytest_plugin.folders import CassetteFolder
from tests.plugin.conftest import PLAIN, Project

ROOT = Path(__file__).parents[2]
HEAVY = (
    "yaml",
    "httpx",
    "typer",
    "torch",
    "msgspec",
    "jsonschema_rs",
    "asyncio",
    "conformance.judging",
)
PROBE = """
import sys
import pytest
pytest.main(["-p", "conformance.pytest_plugin", "-p", "no:cacheprovider", "-q", sys.argv[1]])
print("loaded:", *sorted(set(sys.modules) & set({heavy!r})))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The last line that a pytest run over a plain test prints."""
    home = tmp_path_factory.mktemp("plain")
    (home / "test_plain.py").write_text("def test_it(): pass\n", encoding="utf-8")
    # A file that nobody asked for lies beside it.
    (home / "other.conformance.yaml").write_text("cassettes: [x]\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(heavy=HEAVY), str(home / "test_plain.py")],
        cwd=ROOT,
        env={"PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1 passed" in done.stdout
    return done.stdout.rstrip().rpartition("\n")[2]


def test_nothing_heavy_is_loaded(loaded: str) -> None:
    assert loaded == "loaded:"


def test_assert_conforms_needs_no_pytest() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None; import conformance;"
        "conformance.assert_conforms(sys.argv[1], 'summary/lifecycle')"
    )
    file = ROOT / "cassettes/openai.responses/openai/summary-four-parts.cassette.jsonl"
    done = subprocess.run([sys.executable, "-c", code, str(file)], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_entry_point_is_declared() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nconformance = "conformance.pytest_plugin"\n' in text


@pytest.mark.slow
def test_rules_that_nothing_exercises_count_once_in_an_exchange(project: Project) -> None:
    project.take(PLAIN, "one.cassette.jsonl")
    project.take(PLAIN, "two.cassette.jsonl")
    project.write("a.conformance.yaml", "cassettes: ['*.jsonl']\nprofile: strict\n")
    result = project.run("-rs")
    outcomes = result.parseoutcomes()
    assert 2 <= outcomes["skipped"] <= 2 * 3
    assert outcomes["passed"] > 20
    found = [line for line in result.outlines if line.startswith("SKIPPED [")]
    assert len(found) <= 3  # pytest puts equal reasons together
    assert any(": VACUOUS " in line and " more of this exchange)" in line for line in found)
    listed = project.run("-v").outlines
    assert sum("SKIPPED" in line for line in listed) > 20


def test_a_gap_that_fails_is_counted_by_itself(project: Project) -> None:
    project.take(PLAIN, "one.cassette.jsonl")
    project.write("a.conformance.yaml", "cassettes: ['*.jsonl']\nprofile: strict\n")
    outcomes = project.run("--conformance-require-exercised").parseoutcomes()
    assert outcomes["failed"] > 20
    assert "skipped" not in outcomes


def test_only_what_names_show_is_taken_for_a_recording_and_deleted(tmp_path: Path) -> None:
    write(tmp_path / "0001-chat.cassette.jsonl", Cassette(Header()))
    answer = {"object": "chat.completion", "choices": []}
    (tmp_path / "expected.json").write_text(json.dumps(answer))
    assert len(discover(tmp_path)) == 2
    folder = CassetteFolder(tmp_path)
    assert [path.name for path in folder.files()] == ["0001-chat.cassette.jsonl"]
    folder.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["expected.json"]
