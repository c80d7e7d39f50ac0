"""Plain words: pages, messages and rules say what they mean with the field's verbs.

Each phrase of the list has plainer ones beside it. Generated pages are held by their generators'
texts, which stand in `conformance/` and `specs/`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.tables import read_table

ROOT: Final = Path(__file__).parents[2]
INSTEAD: Final[Mapping[str, str]] = {
    r"tells?|told": "says, shows, reports, lists, distinguishes",
    r"(?:is|are|was|were) said": "says, states, comes",
    r"said to be": "stated as",
    r"stands? in(?! for)": "is in; an obstacle",
    r"but for": "except",
    r"passe[sd] over|pass over": "skips",
    r"mend(?:s|ed|ing)?": "fixes",
    r"asked of|of whom": "who, whose",
    r"sold": "reported",
    r"beside": "next to, with, as well as, compared with",
    r"carr(?:y|ies|ied) on": "continues",
    r"at hand": "present, found",
    r"looks? at": "reads, checks, shows",
    r"behind (?:it|them|(?:the )?(?:texts?|calls?|answers?|thinking|thoughts?))": "after",
    r"given up|gives? up": "stops",
    r"go(?:es)? on (?:in|with)|for ever": "continues, forever",
    r"(?:is|are) (?:already there|there (?:already|twice))": "already exists, appears twice",
    r"see knob": "a profile may allow it (knob NAME)",
}
PHRASES: Final = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
GENERATED: Final = frozenset(
    {
        *("app-matrix.md", "client-matrix.md", "mutation-matrix.md"),
    }
)
NAMES: Final = frozenset({"streams beside", " beside "})
"""Literals that nobody reads as words: of a writer of verdicts, and in the name of a request."""
TEXT_KEYS: Final = ("says", "hint", "fix", "title", "because", "reason")
"""Keys of rules, profiles, scenarios and baselines whose values people read."""


def pages() -> list[Path]:
    whole = (ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY"))
    found = [*whole, *sorted((ROOT / "docs").glob("*.md"))]
    return [path for path in found if path.name not in GENERATED]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of code, links and ids of rules, with their numbers."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, re.sub(r"`[^`]*`|\[[\w-]+(?:/[\w-]+)+|\]\([^)]*\)", "", line)


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """String literals of a module with a space in them: messages, help, names of nothing."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def docstrings(path: Path) -> frozenset[int]:
    """Lines of docstrings that no user reads; those of verbs are their help."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {node.value.lineno for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    helped = {
        node.body[0].lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_command")
    }
    return frozenset(prose - helped)


def read_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in TEXT_KEYS and isinstance(inner, str):
                yield inner
            else:
                yield from read_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from read_texts(inner)


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.name)
def test_a_page_has_plain_words(page: Path) -> None:
    lines = prose(page.read_text(encoding="utf-8"))
    assert [(n, found[0]) for n, line in lines if (found := PHRASES.search(line))] == []


@pytest.mark.every_run
def test_messages_and_help_have_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:80]}"
        for path in sorted((ROOT / "conformance").rglob("*.py"))
        for line, text in sentences(path)
        if PHRASES.search(text) and line not in docstrings(path) and text not in NAMES
    ]
    assert found == []


@pytest.mark.every_run
def test_rules_and_profiles_have_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text[:80]}"
        for path in sorted((ROOT / "specs").rglob("*.yaml"))
        for text in read_texts(read_table(path))
        if PHRASES.search(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "phrase",
    [
        *("It tells you.", "what was told", "but for one", "all mended", "a cut sold as an answer"),
        *("See knob role.", "one beside it", "it comes behind the text", "which it carries on"),
    ],
)
def test_the_list_finds_its_phrases(phrase: str) -> None:
    assert PHRASES.search(phrase)
