"""Who may import whom, and what start-up must not load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "conformance"
REFERENCE = ROOT / "reference_impl"
# Lowest first. Inside a floor a module imports only what stands to its left.
FLOORS = (
    ("core",),
    ("rules", "cassette"),
    ("dialects",),
    ("profiles", "identify"),
    ("judging", "evidence", "recordings"),
    ("mutate", "linting", "baseline", "diff", "scenarios", "systems", "report"),
    ("targets",),
    ("runs",),
    ("cli", "pytest_plugin"),
)
ON_THE_NETWORK = frozenset({"targets", "runs", "cli", "pytest_plugin"})
HEIGHT = {name: (floor, at) for floor, names in enumerate(FLOORS) for at, name in enumerate(names)}
NETWORK = ("httpx", "socket", "asyncio", "http.", "urllib.request", "ssl", "subprocess")
MOST_LINES = 400
MOST_FUNCTION_LINES = 40


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_parts(path: Path) -> set[str]:
    names = [name.split(".") for name in imported(path) if name.startswith("conformance.")]
    return {parts[1] for parts in names if parts[1] in HEIGHT}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module_imports_only_from_below(path: Path) -> None:
    part = part_of(path)
    if part in ("__init__", "__main__"):
        return
    above = {name for name in own_parts(path) - {part} if HEIGHT[name] >= HEIGHT[part]}
    assert not above


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if part_of(path) not in ON_THE_NETWORK],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_what_judges_does_not_touch_the_network(path: Path) -> None:
    assert not [name for name in imported(path) if f"{name}.".startswith(NETWORK)]


@pytest.mark.parametrize("path", sorted(REFERENCE.rglob("*.py")), ids=str)
def test_the_reference_shares_nothing_with_the_checker(path: Path) -> None:
    assert not [name for name in imported(path) if f"{name}.".startswith("conformance.")]


@pytest.mark.parametrize(
    "path", [*modules(), *sorted(REFERENCE.rglob("*.py"))], ids=lambda p: str(p.relative_to(ROOT))
)
def test_modules_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MOST_FUNCTION_LINES, node.name


@pytest.mark.parametrize("module", ["yaml", "httpx", "typer", "torch", "transformers", "rich"])
def test_import_of_the_package_is_light(module: str) -> None:
    code = f"import conformance, sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
