"""No module imports another that leads back to it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("conformance", "reference_impl")


def import_graph(package: str) -> dict[str, set[str]]:
    """What each module imports: at its top, in a function, or for its types only."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / package).rglob("*.py")
        if "_data" not in path.parts
    }
    return {
        name: {found for found in imported_names(path, set(paths)) if found != name}
        for name, path in paths.items()
    }


def imported_names(path: Path, modules: set[str]) -> set[str]:
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


def absolute_module(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    above = path.relative_to(ROOT).parts[: -node.level]
    return ".".join((*above, *([node.module] if node.module else ())))


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
