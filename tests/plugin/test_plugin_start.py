"""What a pytest start pays for a plugin that nobody uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
