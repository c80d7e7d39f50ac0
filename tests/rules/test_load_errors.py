"""Broken suite files: the place, what was expected and what came, and the nearest known word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance.core.errors import SpecError
from conformance.core.events import Vocabulary
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import find
from conformance.rules import document
from conformance.rules.document import parse
from conformance.rules.load import load_suite, read_suite
from conformance.rules.model import Suite

Changes = Mapping[int, str | None]

BROKEN: Final = [
    pytest.param(
        {int(n): text for n, text in case["lines"].items()}, case["error"], id=case["name"]
    )
    for case in document.load(
        Path(__file__).parent.parent / "vectors" / "rules" / "errors" / "suites.yaml"
    ).plain()["cases"]
]

GOOD: Final = """\
suite: own/suite
title: Own
dialect: openai.chat
events:
  first: {type: chat.chunk, id: {type: string}}
rules:
  - id: one
    level: MUST
    says: It is so.
    source: {advice: here}
    since: 0.1.0
    grammar: "first finish"
"""
VOCABULARY: Final = Vocabulary(
    "openai.chat", frozenset({"chat.chunk", "chat.choice", "chat.tool", "error", "[DONE]"})
)


def changed(changes: Changes) -> str:
    """GOOD with some lines replaced, left out, or spread over several."""
    lines = (changes.get(n, line) for n, line in enumerate(GOOD.splitlines(), 1))
    return "\n".join(line for line in lines if line is not None)


def read(text: str) -> Suite:
    return read_suite(parse(text, "own.yaml"), lambda _: VOCABULARY)


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_broken_suite_is_refused_where_it_breaks(changes: Changes, message: str) -> None:
    text = changed(changes)
    with pytest.raises(SpecError) as caught:
        read(text)
    error = caught.value
    assert str(error) == f"own.yaml:{message}"
    assert error.place is not None
    assert error.text == text.splitlines()[(error.place.line or 0) - 1]


def test_what_the_broken_suites_are_made_of_is_good() -> None:
    suite = read(GOOD)
    assert [rule.id for rule in suite.rules] == ["own/suite/one"]
    assert str(suite.rules[0].place) == "own.yaml:7:5"


def test_a_file_is_named_in_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(changed({8: "    level: MUTS"}), encoding="utf-8")
    with pytest.raises(SpecError, match=rf"^{re.escape(str(path))}:8:12: expected one of MUST"):
        load_suite(path, lambda _: VOCABULARY)


# A knob stands in the place of a value; only a profile knows whether there is one.
UNKNOWN_KNOBS: Final[list[tuple[str, Changes]]] = [
    ("in a condition", {5: "  first: {type: chat.chunk, id: $nope}"}),
    ("in a list", {5: "  first: {type: chat.chunk, id: [x, $nope]}"}),
    ("under not", {5: "  first: {type: chat.chunk, id: {not: $nope}}"}),
    ("under above", {5: "  first: {type: chat.chunk, id: {above: $nope}}"}),
    ("inside a schema", {5: "  first: {type: chat.chunk, id: {enum: $nope}}"}),
    ("in a type", {5: "  first: {type: {not: $nope}}"}),
    ("in each", {12: "    each: {of: first, schema: {properties: {id: {enum: $nope}}}}"}),
    ("as a start", {12: "    values: {of: first, path: i, are: contiguous, start: $nope}"}),
    ("as markers", {12: "    fold: {over: first, take: t, lacks: $nope}"}),
    ("among markers", {12: "    fold: {over: first, take: t, lacks: [x, $nope]}"}),
    (
        "as a mask",
        {
            12: "    fold: {over: first, take: t, with: list, minus: $nope,"
            " equals: {in: finish, path: x}}"
        },
    ),
    ("in applies.request", {11: "    since: 0.1.0\n    applies: {request: {stream: $nope}}"}),
    ("in applies.response", {11: "    since: 0.1.0\n    applies: {response: {status: $nope}}"}),
    ("in applies.profile", {11: "    since: 0.1.0\n    applies: {profile: {done: $nope}}"}),
]


@pytest.mark.parametrize("changes", [pytest.param(c, id=name) for name, c in UNKNOWN_KNOBS])
def test_a_knob_that_no_profile_declares_is_an_error_of_its_rule(changes: Changes) -> None:
    rulebook = Rulebook([read(changed(changes))])
    with pytest.raises(SpecError) as caught:
        rulebook.bound(find("strict", "openai.chat"))
    error = str(caught.value)
    assert error.startswith("own.yaml:7:5: rule own/suite/one: no knob 'nope'")
