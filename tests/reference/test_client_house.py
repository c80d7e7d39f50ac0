"""What the client may import, and how long its modules may get."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CLIENT = Path(__file__).parent.parent.parent / "reference_impl" / "client"
MODULES = sorted(CLIENT.rglob("*.py"))
READERS = ("chat", "messages", "responses", "reader", "sse", "speech", "call", "markers")
OUTSIDE = ("httpx", "socket", "asyncio", "pathlib", "os")
MOST_LINES = 400
MOST_FUNCTION_LINES = 40


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CLIENT)))
def test_a_checker_does_not_share_the_code_it_checks(path: Path) -> None:
    roots = {name.partition(".")[0] for name in imported(path)}
    assert roots <= {*sys.stdlib_module_names, "reference_impl", "httpx"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CLIENT)))
def test_modules_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MOST_FUNCTION_LINES, node.name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CLIENT)))
def test_readers_know_no_outside_and_no_defect(path: Path) -> None:
    if path.stem.startswith(READERS) and not path.stem.endswith(("request", "command")):
        names = set(imported(path))
        assert not names & set(OUTSIDE)
        assert not [name for name in names if ".defects" in name]


def test_reading_a_stream_needs_no_http() -> None:
    code = "import reference_impl.client, sys; sys.exit('httpx' in sys.modules)"
    folder = CLIENT.parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=folder, check=False).returncode == 0
