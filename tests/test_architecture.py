"""Who may import whom, what start-up must not load, how long things may be; one test a fact."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "conformance"
REFERENCE = ROOT / "reference_impl"
# Lowest first. Inside a floor a module imports only what stands to its left.
FLOORS = (
    ("adapters", "schemas", "core"),
    ("rules", "editing", "dialects", "cassette"),
    ("profiles", "identify"),
    ("judging", "evidence", "recordings"),
    ("mutate", "linting", "baseline", "diff", "scenarios", "systems", "report", "board", "corpus"),
    ("wire",),
    ("targets",),
    ("watching", "runs"),
    ("cli", "pytest_plugin"),
)
ON_THE_NETWORK = frozenset(
    {"corpus", "wire", "targets", "watching", "runs", "cli", "pytest_plugin"}
)
HEIGHT = {name: (floor, at) for floor, names in enumerate(FLOORS) for at, name in enumerate(names)}
NETWORK = ("httpx", "socket", "asyncio", "http.", "urllib.request", "ssl", "subprocess")
HEAVY = ("yaml", "httpx", "typer", "torch", "transformers", "rich")
MOST_LINES = 400
MOST_FUNCTION_LINES = 40
MOST_ONE_WORD_NAMES = 0.4
WORD_ENDS = re.compile(r"_|(?<=[a-z0-9])(?=[A-Z])")


@cache
def package_modules() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def reference_modules() -> tuple[Path, ...]:
    return tuple(sorted(REFERENCE.rglob("*.py")))


@cache
def syntax_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported_names(path: Path) -> frozenset[str]:
    """Every module that is imported, and `module.name` for every name taken from one."""
    return frozenset(_imported_names(path))


def _imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute_module(path, node)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def absolute_module(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    above = path.relative_to(ROOT).parts[: -node.level]
    return ".".join((*above, *([node.module] if node.module else ())))


def imported_parts(path: Path) -> set[str]:
    names = [name.split(".") for name in imported_names(path) if name.startswith("conformance.")]
    return {parts[1] for parts in names if parts[1] in HEIGHT}


def test_every_part_has_its_floor() -> None:
    parts = {part_of(path) for path in package_modules()}
    assert parts - {"__init__", "__main__", "reference"} == set(HEIGHT)


def test_modules_import_only_from_below() -> None:
    offenders = [
        f"{shown(path)} imports {name}"
        for path in package_modules()
        if (part := part_of(path)) in HEIGHT
        for name in sorted(imported_parts(path) - {part})
        if HEIGHT[name] >= HEIGHT[part]
    ]
    assert offenders == []


@pytest.mark.every_run
def test_what_judges_does_not_touch_the_network() -> None:
    offenders = [
        f"{shown(path)} imports {name}"
        for path in package_modules()
        if part_of(path) not in ON_THE_NETWORK
        for name in sorted(imported_names(path))
        if f"{name}.".startswith(NETWORK)
    ]
    assert offenders == []


def test_checker_and_reference_share_nothing() -> None:
    """A checker must not share the code that it checks."""
    offenders = [
        f"{shown(path)} imports {name}"
        for paths, other in (
            (package_modules(), ("reference_impl.", "conformance.reference.")),
            (reference_modules(), ("conformance.",)),
        )
        for path in paths
        for name in sorted(imported_names(path))
        if f"{name}.".startswith(other)
    ]
    assert offenders == []


def test_imports_of_the_reference_work_under_both_its_names() -> None:
    offenders = [
        f"{shown(path)} imports {node.module}"
        for path in reference_modules()
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ImportFrom)
        if not node.level and absolute_module(path, node).startswith("reference_impl")
    ]
    assert offenders == []


@pytest.mark.every_run
def test_no_private_name_is_imported_from_another_module() -> None:
    offenders = [
        f"{shown(path)} imports {module}.{alias.name}"
        for path in (*package_modules(), *reference_modules())
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ImportFrom)
        for module in [absolute_module(path, node)]
        if module.startswith(("conformance", "reference_impl"))
        for alias in node.names
        if any(
            part.startswith("_") and not part.startswith("__")
            for part in (*module.split("."), alias.name)
        )
    ]
    assert offenders == []


def test_modules_stay_short() -> None:
    lengths = {
        shown(path): path.read_text(encoding="utf-8").count("\n")
        for path in (*package_modules(), *reference_modules())
    }
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


@pytest.mark.every_run
def test_functions_stay_short() -> None:
    lengths = {
        f"{shown(path)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno
        for path in (*package_modules(), *reference_modules())
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: more + 1 for name, more in lengths.items() if more >= MOST_FUNCTION_LINES} == {}


@pytest.mark.slow
def test_no_class_name_is_defined_twice() -> None:
    """But in the folders of dialects, each of which has its own reader."""
    homes: dict[str, list[str]] = {}
    for path in package_modules():
        in_dialect = part_of(path) == "dialects" and len(path.relative_to(PACKAGE).parts) > 2
        for node in () if in_dialect else ast.walk(syntax_tree(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(f"{shown(path)}:{node.lineno}")
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_names_say_what_they_are() -> None:
    """One word is often vague."""
    names = [
        node.name
        for path in package_modules()
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not node.name.startswith("__")
    ]
    words = {name: [each for each in WORD_ENDS.split(name) if each] for name in names}
    vague = [name for name in names if len(words[name]) - (words[name][0] == "get") <= 1]
    assert len(vague) <= MOST_ONE_WORD_NAMES * len(names), sorted(vague)


def test_import_of_the_package_is_light() -> None:
    code = f"import conformance, sys; print(*{set(HEAVY)!r} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


PACKAGES = ("conformance", "reference_impl")


def import_graph(package: str) -> dict[str, set[str]]:
    """What each module imports: at its top, in a function, or for its types only."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / package).rglob("*.py")
        if "_data" not in path.parts
    }
    return {
        name: {found for found in imported_modules(path, set(paths)) if found != name}
        for name, path in paths.items()
    }


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = absolute_module(path, node)
            # `from package import module` is an import of the module.
            full = [f"{module}.{alias.name}" for alias in node.names]
            names |= {name if name in modules else module for name in full}
    return names & modules


def modules_in_circles(graph: dict[str, set[str]]) -> set[str]:
    """What is left when modules that import nothing left, or that nothing left imports, go."""
    left = set(graph)
    while True:
        imported = {found for name in left for found in graph[name]}
        free = {name for name in left if name not in imported or not graph[name] & left}
        if not free:
            return left
        left -= free


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert modules_in_circles(graph) == {"b", "c"}


@pytest.mark.every_run
@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_circle(package: str) -> None:
    graph = import_graph(package)
    circles = modules_in_circles(graph)
    assert {name: sorted(graph[name] & circles) for name in sorted(circles)} == {}
